package explore

import (
	"errors"

	"github.com/operkit/operkit/reconcile/reconciletest"
)

// merged returns the life in which the operator sees a chapter, counted from 0, only together with the next one: what
// it never saw can't count. merges is false after a deletion: what comes then is new.
func (l life) merged(n int) (once life, merges bool) {
	if n+1 >= len(l.chapters) || l.chapters[n].removes {
		return l, false
	}
	first, next := l.chapters[n], l.chapters[n+1]
	both := next
	both.name = first.name + ", " + next.name
	both.begin = func(h *reconciletest.Harness) error { return errors.Join(first.begin(h), next.begin(h)) }
	once = l.drop(n)
	once.chapters[n] = both
	once.name += " as one"
	return once, true
}

// learnMerged adds the states that a life may have because chapters of an execution were passed, and reports whether
// there are any that weren't known.
func (e *explorer) learnMerged(known *lesson, tr *trace) (more bool) {
	for n := range tr.chapters {
		once := known.life
		for last := n; tr.chapters[last].passed; last++ {
			both, merges := once.merged(n)
			if !merges {
				break
			}
			once = both
			if added := e.learnAsOne(known, once, n, last-n+1); added {
				more = true
			}
		}
	}
	return more
}

// learnAsOne lives a life in which some chapters, from one on, are one with the chapter after them.
func (e *explorer) learnAsOne(known *lesson, once life, first, count int) (more bool) {
	at := [2]int{first, count}
	if known.merged[at] {
		return false
	}
	known.merged[at] = true
	other := e.execute(once, nil, 0, false)
	if !other.accepted() || other.failure != "" || other.fails() {
		return false
	}
	for n := first + count; n < len(known.chapters); n++ {
		known.others[n] = append(known.others[n], other.chapters[n-count].end)
		more = true
	}
	return more
}
