package explore

import "fmt"

// partOfPaired is the part of the states that lives of two resources get: one of so many.
const partOfPaired = 5

// agenda is the work of an exploration that is known: lives that are still to be learned, and disturbances of those
// that are. It belongs to one exploration.
type agenda struct {
	lives   []life
	learned []*lesson
	// samples, edits and twins are the disturbances that are still to be tried: of samples as they are, of edits, and
	// of two resources.
	samples, edits, twins queue
	// onSamples and onEdited count the disturbances that were tried of each of them.
	onSamples, onEdited int
	// paired are the lives of two resources that are still to be learned. onTwins and onPaired are the states that
	// these lives and their disturbances have used up so far.
	paired            []life
	onTwins, onPaired int
	// onEdits and onDisturbances are the states that each has used up so far.
	onEdits, onDisturbances int
	// tried counts the disturbances that were tried, by the key and by the point of the job.
	tried map[string]int
	// ways are the ways in which lives went on, see wayAfter.
	ways map[string]bool
	// queued counts the pairs of disturbances that were put into the queues.
	queued int
}

func newAgenda() agenda { return agenda{tried: map[string]int{}, ways: map[string]bool{}} }

// work lives each sample as it is. Then disturbances and edits take turns, so that both get half of the states.
func (e *explorer) work() error {
	for !e.spent() {
		if e.turnOfPaired() {
			if err := e.studyPaired(); err != nil {
				return err
			}
			continue
		}
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
		e.agenda.onDisturbances += e.try(next)
	}
	return nil
}

// try tries the disturbance that comes next, and returns how many states it took.
func (e *explorer) try(next *job) (states int) {
	before := e.visited
	e.agenda.take(next)
	e.disturb(next)
	return e.visited - before
}

// study learns the next life. Those that follow from it come next.
func (e *explorer) study() error {
	l := e.agenda.lives[0]
	e.agenda.lives = e.agenda.lives[1:]
	before := e.visited
	err := e.studyLife(l)
	if l.edited() {
		e.covered.lived(l)
		e.agenda.onEdits += e.visited - before
	}
	return err
}

func (e *explorer) studyLife(l life) error {
	known, err := e.learn(l)
	if err != nil {
		return fmt.Errorf("%s: %w", l, err)
	}
	if known == nil {
		return nil
	}
	e.atlas.undisturbed(known)
	if e.paused(l) {
		return nil // nothing comes back then, so it isn't disturbed
	}
	e.agenda.lives = append(e.unready(known), e.agenda.lives...)
	choices := e.choicesOf(known)
	e.agenda.learn(known, overlapsFirst(spread(choices)))
	e.covered.learned(known, choices)
	return nil
}

// learn adds the disturbances of a life, in their order.
func (a *agenda) learn(known *lesson, choices []choice) {
	a.learned = append(a.learned, known)
	for n := range known.chapters {
		a.ways[known.wayAfter(choice{chapter: n + 1, act: restart})] = true
	}
	a.queue(known).add(newTask(known, nil, known.trace, choices))
}

// mostQueued is how many pairs of disturbances are put into the queues at most.
const mostQueued = 50000

// deepen adds pairs of disturbances: one that was tried alone, and each that can follow it, unless the operator went on
// as in an execution before it.
func (e *explorer) deepen(first *job, tr *trace) {
	a, c := &e.agenda, first.last.choice
	way := tr.wayAfter(c)
	if a.ways[way] {
		return
	}
	a.ways[way] = true
	choices := spread(e.following(tr, c))
	choices = choices[:min(len(choices), mostQueued-a.queued)]
	a.queued += len(choices)
	a.queue(first.lesson).add(newTask(first.lesson, tr.disturbances, tr, choices))
}

// queue returns the queue for the disturbances of a life.
func (a *agenda) queue(known *lesson) *queue {
	switch {
	case known.life.paired():
		return &a.twins
	case known.life.edited():
		return &a.edits
	}
	return &a.samples
}

// turnOfLife reports whether the next life comes before the next disturbance.
func (a *agenda) turnOfLife() bool { return !a.lives[0].edited() || a.onEdits <= a.onDisturbances }

// next returns the disturbance that is tried next: one of which the fewest with its key were tried. Among these,
// samples as they are and edits take turns. It returns nil if there is none.
func (a *agenda) next() *job {
	sample, edited := a.samples.least(a.tried), a.edits.least(a.tried)
	if edited == nil || sample != nil && (sample.fewest < edited.fewest || sample.fewest == edited.fewest && a.onSamples <= a.onEdited) {
		return sample
	}
	return edited
}

// take takes the disturbance that next has returned.
func (a *agenda) take(j *job) {
	a.queue(j.lesson).take()
	a.tried[j.key]++
	a.tried[j.point]++
	if j.task.tried++; j.life.edited() {
		a.onEdited++
	} else if !j.life.paired() {
		a.onSamples++
	}
}

// edited reports whether a life has an edit.
func (l life) edited() bool { return l.by != nil }
