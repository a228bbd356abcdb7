package explore

import (
	"slices"

	"github.com/operkit/operkit/reconcile/reconciletest"
)

// merged returns the life in which the operator sees a chapter, counted from 0, only together with the next one: what
// it never saw can't count. merges is false if that is the same as one after the other.
func (l life) merged(n int) (once life, merges bool) {
	if n+1 >= len(l.chapters) {
		return l, false
	}
	first, next := l.chapters[n], l.chapters[n+1]
	var both []chapter
	switch {
	case first.change != nil:
		both = []chapter{next}
	case first.create != nil && next.change != nil:
		both = []chapter{create(next.change)}
	case first.create != nil && next.create == nil:
		both = []chapter{{name: "nothing happens", begin: func(*reconciletest.Harness) error { return nil }}}
	default:
		return l, false // the deletion before a creation
	}
	once = l.drop(n)
	once.chapters = slices.Replace(once.chapters, n, n+1, both...)
	once.name += " as one"
	return once, true
}

// learnMerged adds the states that a life may have because chapters of an execution were passed, and reports whether
// there are any that weren't known.
func (e *explorer) learnMerged(known *lesson, tr *trace) (more bool) {
	for n, now := range tr.chapters {
		if !now.passed || known.merged[n] {
			continue
		}
		once, merges := known.life.merged(n)
		known.merged[n] = true
		if !merges {
			continue
		}
		other := e.execute(once, nil, 0, false)
		if !other.accepted() || other.failure != "" || other.fails() {
			continue
		}
		for m := n + 1; m < len(known.chapters); m++ {
			known.others[m] = append(known.others[m], other.chapters[m-1].end)
			more = true
		}
	}
	return more
}
