package explore

import "slices"

// turnOfPaired reports whether the states that lives of two resources get aren't used up. They come after the samples.
func (e *explorer) turnOfPaired() bool {
	a := &e.agenda
	waits := len(a.lives) > 0 && !a.lives[0].edited()
	next := a.nextPaired()
	if waits || next == nil && len(a.paired) == 0 {
		return false
	}
	return a.next() == nil && len(a.lives) == 0 || (a.onTwins+a.onPaired)*partOfPaired <= e.visited
}

// nextPaired returns a disturbance of two resources, nil if there is none.
func (a *agenda) nextPaired() *job { return a.twins.least(a.tried) }

// studyPaired learns the next life of two resources, or tries a disturbance of such a life. They take turns, so that
// both get half of the states.
func (e *explorer) studyPaired() error {
	a := &e.agenda
	next := a.nextPaired()
	if next != nil && (len(a.paired) == 0 || a.onPaired < a.onTwins) {
		a.onPaired += e.try(next)
		return nil
	}
	l, before := a.paired[0], e.visited
	a.paired = a.paired[1:]
	err := e.studyLife(l)
	a.onTwins += e.visited - before
	return err
}

// overlapsFirst puts those disturbances first that only two resources have.
func overlapsFirst(choices []choice) []choice {
	order := map[bool]int{true: 0, false: 1}
	slices.SortStableFunc(choices, func(a, b choice) int { return order[a.act == overlap] - order[b.act == overlap] })
	return choices
}
