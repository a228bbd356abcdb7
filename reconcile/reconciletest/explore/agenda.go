package explore

import (
	"fmt"
	"slices"
)

// agenda is the work of an exploration that is known: lives that are still to be learned, and disturbances of those
// that are. It belongs to one exploration.
type agenda struct {
	lives   []life
	learned []*task
	// tried counts the disturbances that were tried, by their key.
	tried map[string]int
	// onSamples and onEdited count the disturbances of samples as they are and of edits.
	onSamples, onEdited int
	// onEdits and onDisturbances are the states that each has used up so far.
	onEdits, onDisturbances int
}

// task is a life with its disturbances.
type task struct {
	*lesson
	// left are the disturbances that are still to be tried, with their keys.
	left  []choice
	keys  []string
	tried int
}

// newTask returns the task of a life. Disturbances of the same request or object, in the same chapter, have one key.
func newTask(known *lesson, choices []choice) *task {
	one := &task{lesson: known, left: choices}
	for _, c := range choices {
		one.keys = append(one.keys, fmt.Sprintf("%s@%d %s", c.act, c.chapter, c.arm(known.chapters[c.chapter-1]).about))
	}
	return one
}

// work lives each sample as it is. Then disturbances and edits take turns, so that both get half of the states. Pairs
// of disturbances are tried when nothing else is left.
func (e *explorer) work() error {
	for !e.spent() {
		next, place := e.agenda.next()
		if len(e.agenda.lives) > 0 && (next == nil || e.agenda.turnOfLife()) {
			if err := e.study(); err != nil {
				return err
			}
			continue
		}
		if next == nil {
			return nil
		}
		before, c := e.visited, next.left[place]
		e.agenda.take(next, place)
		e.disturbOnce(next.lesson, c)
		e.agenda.onDisturbances += e.visited - before
	}
	return nil
}

// study learns the next life. Those that follow from it come next.
func (e *explorer) study() error {
	l, before := e.agenda.lives[0], e.visited
	e.agenda.lives = e.agenda.lives[1:]
	known, err := e.learn(l)
	if err != nil {
		return fmt.Errorf("%s: %w", l, err)
	}
	if l.edited() {
		e.covered.lived(l)
		e.agenda.onEdits += e.visited - before
	}
	if known == nil {
		return nil
	}
	e.agenda.lives = append(e.unready(known), e.agenda.lives...)
	choices := e.choicesOf(known)
	e.agenda.learned = append(e.agenda.learned, newTask(known, spread(choices)))
	e.atlas.undisturbed(known)
	e.covered.learned(known, choices)
	return nil
}

// turnOfLife reports whether the next life comes before the next disturbance.
func (a *agenda) turnOfLife() bool { return !a.lives[0].edited() || a.onEdits <= a.onDisturbances }

// next returns a disturbance, by its place in a task: one of which the fewest with its key were tried. Among these,
// samples as they are and edits take turns. It returns nil if there is none.
func (a *agenda) next() (best *task, place int) {
	sample, ofSample, fewest := a.least(func(one *task) bool { return !one.life.edited() })
	edited, ofEdited, few := a.least(func(one *task) bool { return one.life.edited() })
	if edited == nil || sample != nil && (fewest < few || fewest == few && a.onSamples <= a.onEdited) {
		return sample, ofSample
	}
	return edited, ofEdited
}

// least returns a disturbance of which the fewest with its key were tried, in the life of which the fewest were tried,
// and how many that are.
func (a *agenda) least(of func(*task) bool) (best *task, place, least int) {
	for _, one := range a.learned {
		if !of(one) {
			continue
		}
		for i, key := range one.keys {
			if tried := a.tried[key]; best == nil || tried < least || tried == least && one.tried < best.tried {
				best, place, least = one, i, tried
			}
		}
	}
	return best, place, least
}

// take takes a disturbance out of a task.
func (a *agenda) take(from *task, place int) {
	if a.tried == nil {
		a.tried = map[string]int{}
	}
	a.tried[from.keys[place]]++
	if from.tried++; from.life.edited() {
		a.onEdited++
	} else {
		a.onSamples++
	}
	from.left, from.keys = slices.Delete(from.left, place, place+1), slices.Delete(from.keys, place, place+1)
}

// lessons returns the lives that have been learned.
func (a *agenda) lessons() (all []*lesson) {
	for _, one := range a.learned {
		all = append(all, one.lesson)
	}
	return all
}

// edited reports whether a life has an edit.
func (l life) edited() bool { return l.by != nil }

// spread orders disturbances so that a small number of them is about many requests: each request is disturbed once, in
// turn by another kind of disturbance, before any is disturbed a second time. The first write is followed by a kill.
func spread(choices []choice) (all []choice) {
	var places [][]choice
	for i, c := range choices {
		if i == 0 || c.chapter != choices[i-1].chapter || c.place() != choices[i-1].place() || c.request != choices[i-1].request {
			places = append(places, nil)
		}
		places[len(places)-1] = append(places[len(places)-1], c)
	}
	starts := make([]int, len(places)) // the index of the first disturbance of each place
	alike := map[act]int{}             // how many places came with the same first disturbance
	for i, acts := range places {
		first := slices.IndexFunc(acts, func(c choice) bool { return c.act == killAfter })
		starts[i] = max(first, 0) + alike[acts[0].act]
		alike[acts[0].act]++
	}
	for round := 0; len(all) < len(choices); round++ {
		for i, acts := range places {
			if round < len(acts) {
				all = append(all, acts[(starts[i]+round)%len(acts)])
			}
		}
	}
	return all
}
