package explore

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/reconciletest"
)

// execution is an execution under way.
type execution struct {
	*explorer
	*trace
	bubble
	h       *reconciletest.Harness
	witness *witness
	// begun: the next chapter has begun already. behind: a watch has fallen behind. ending: the end of the present
	// chapter has been recorded.
	begun, behind, ending bool
	// points counts the points of the present chapter. ends: the execution ends when it comes into an equal state.
	points int
	ends   bool
	// later is how much later than the first one the execution begins.
	later time.Duration
}

// execute runs the operator through a life with disturbances, in a bubble of testing/synctest. The life begins later by
// the given time. ends means that the execution ends when it comes into a state that goes on as in an earlier one.
func (e *explorer) execute(l life, disturbances []armed, later time.Duration, ends bool) *trace {
	x := &execution{explorer: e, trace: &trace{life: l, disturbances: slices.Clone(disturbances)}, ends: ends, later: later}
	how := x.run(e.t, e.options.patience, func(t *testing.T) {
		trial := newTrial(t.Context())
		trial.run(func() {
			x.h = e.start(trial, x.reborn, reconciletest.Interleave(x.choose))
			defer func() {
				x.runs, x.components, x.heartbeats = len(x.h.Runs()), componentsOf(x.h), e.beatsOf(x.h.Runs())
			}()
			x.witness = e.attend(trial, x.h, x.trace)
			trial.sent = func() { x.passed.Add(1) }
			x.makeRoom()
			x.h.Advance(later)
			x.began = stateOf(x.objects(x.h))
			for n := range l.chapters {
				if x.refused = x.live(n + 1); x.refused != nil {
					return
				}
			}
		})
		x.failure = trial.failure
		trial.end()
	})
	tr := x.trace
	switch how {
	case remaining:
		x.remains()
	case hanging: // it may still run
		e.hangs = true
		tr = &trace{life: l, disturbances: slices.Clone(disturbances), chapters: make([]lived, x.chapter.Load()), failure: x.forever()}
	}
	e.visited += max(tr.runs, len(tr.chapters)) // an operator that reconciles nothing comes to an end, too
	e.progress.show(e.report)
	return tr
}

// live lives the nth chapter, counted from 1. It returns an error if the cluster refuses what it begins with.
func (x *execution) live(n int) error {
	x.chapters = append(x.chapters, lived{})
	x.chapter.Store(int64(n))
	x.passed.Add(1)
	x.points = 0
	if err := x.begin(n); err != nil {
		return err
	}
	now := &x.chapters[n-1]
	if x.misses(n) {
		return nil
	}
	if x.life.chapters[n-1].idle {
		x.chapters[n-1].add(busy(x.h)...)
	}
	x.disturb(n)
	x.h.RunUntilSettled()
	now.calls, now.points = x.h.Calls(), x.points
	now.judged = x.options.judgedCalls(now.calls)
	if x.overtaken(n) {
		return nil
	}
	x.catchUp()
	x.retry(n)
	x.meddle(n)
	if len(x.disturbances) == 0 && x.later > 0 {
		x.witness.adorn()
		x.h.RunUntilSettled()
	}
	x.witness.events = x.witness.trial.events()
	if len(x.disturbances) == 0 {
		x.h.Bring(resources(x.h, x.kind)...) // as when an event comes twice
	}
	x.h.RunUntilSettled()
	objects := x.objects(x.h)
	now.again = x.options.judgedCalls(writes(x.h.Calls()))
	now.end, now.ready = stateOf(objects), readyOf(objects, x.kind)
	now.errs = lastErrors(x.h, now.end)
	x.witness.rest(now, now.calls, objects)
	now.children = x.children(x.began, now.end)
	x.end(n)
	return nil
}

// begin begins the nth chapter, unless that has happened already.
func (x *execution) begin(n int) error {
	if x.begun {
		x.begun = false
		return nil
	}
	if len(x.at(n, miss)) > 0 {
		x.h.Stall()
	}
	return x.life.chapters[n-1].begin(x.h)
}

// hurry begins the chapter after the nth one, if the cluster accepts that already.
func (x *execution) hurry(n int) {
	if !x.begun && n < len(x.life.chapters) && x.life.chapters[n].begin(x.h) == nil {
		x.begun = true
		x.chapters[n-1].passed = true
	}
}

// reborn is called when the operator is made anew. If nothing is to happen any more, what follows depends only on the
// state of the cluster.
func (x *execution) reborn() {
	if n := len(x.chapters); n > 0 && len(x.at(n, outage)) > 0 && !x.ending {
		x.hurry(n)
	}
	if x.behind || x.ending || slices.ContainsFunc(x.disturbances, x.pending) {
		return
	}
	m := mask{volatile: x.volatile, before: x.rested()}
	key := x.life.name + " " + fingerprint(x.h.Memory().Objects(), m, len(x.chapters), x.begun)
	if x.reached[key] && x.ends {
		x.equal = true
		runtime.Goexit()
	}
	x.reached[key] = true
}

// pending reports whether a disturbance is still to come.
func (x *execution) pending(a armed) bool {
	switch {
	case a.chapter != len(x.chapters):
		return a.chapter > len(x.chapters)
	case a.atEnd() || a.act == depose: // the write of a deposed replica arrives when the operator has nothing left to do
		return !x.ending
	}
	return a.place() == atRequest && a.request > len(x.h.Calls()) || a.place() == atPoint && a.request > x.points
}

// choose returns which of several requests or reads goes on.
func (x *execution) choose(waiting []reconciletest.Call) int {
	x.points++
	x.passed.Add(1)
	for _, a := range x.disturbances {
		if a.chapter == len(x.chapters) && a.act == reverse && x.points >= a.request {
			return len(waiting) - 1
		}
	}
	return 0
}
