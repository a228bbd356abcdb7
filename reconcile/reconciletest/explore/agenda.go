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
	// onEdits and onDisturbances are the states that each has used up so far.
	onEdits, onDisturbances int
}

// task is a life with its disturbances.
type task struct {
	*lesson
	// left are the disturbances that are still to be tried.
	left  []choice
	tried int
}

// work lives each sample as it is. Then disturbances and edits take turns, so that both get half of the states. Pairs
// of disturbances are tried when nothing else is left.
func (e *explorer) work() error {
	for !e.spent() {
		next := e.agenda.next()
		if len(e.agenda.lives) > 0 && (next == nil || e.agenda.turnOfLife()) {
			if err := e.study(); err != nil {
				return err
			}
			continue
		}
		if next == nil {
			return nil
		}
		before, c := e.visited, next.left[0]
		next.left, next.tried = next.left[1:], next.tried+1
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
	e.agenda.learned = append(e.agenda.learned, &task{lesson: known, left: spread(choices)})
	e.atlas.undisturbed(known)
	e.covered.learned(known, choices)
	return nil
}

// turnOfLife reports whether the next life comes before the next disturbance.
func (a *agenda) turnOfLife() bool { return !a.lives[0].edited() || a.onEdits <= a.onDisturbances }

// next returns a life with disturbances that are still to be tried, nil if there is none: the first one without an
// edit, else the one of which the fewest were tried.
func (a *agenda) next() (best *task) {
	for _, one := range a.learned {
		switch {
		case len(one.left) == 0:
		case !one.life.edited():
			return one
		case best == nil || one.tried < best.tried:
			best = one
		}
	}
	return best
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
