package reconciletest

import (
	"cmp"
	"slices"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/trigger"
	"github.com/operkit/operkit/reconcile/request"
)

// quietReconciles is the number of consecutive reconciles without a change, mostly failures, after which a resource
// counts as settled. It is enough to reach the longest backoff.
const quietReconciles = 10

// turn is when and why a resource is reconciled next.
type turn struct {
	due time.Time
	// waits: a reconcile is due, now or later. event: it is due because of an event, not because of time.
	waits, event bool
	// why are the triggers.
	why     request.Triggers
	attempt int
	// quiet counts the consecutive reconciles that changed nothing. settled: further reconciles wouldn't change
	// anything.
	quiet   int
	settled bool
	// beat: the last reconcile has sent nothing but heartbeats.
	beat bool
	// count is the number of reconciles in this run since the last progress: since a reconcile created or deleted an
	// object that no earlier reconcile of the run had created or deleted. total is the number of all reconciles of the
	// run. done are the objects that were created and deleted.
	count, total int
	done         map[string]bool
	// logged is the error that was last logged.
	logged string
}

// mark makes a resource due, because of an event at a time.
func (h *Harness) mark(key deploy.Ref, why request.Triggers, at time.Time, anew bool) {
	t := h.turnOf(key)
	if !t.event {
		t.due, t.why = at, 0 // the earlier trigger, of time, no longer applies
	}
	t.waits, t.event, t.why = true, true, t.why|why
	if anew {
		t.attempt = 0
	}
}

func (h *Harness) turnOf(key deploy.Ref) *turn {
	t := h.queue[key]
	if t == nil {
		t = &turn{done: map[string]bool{}}
		h.queue[key] = t
	}
	return t
}

func (h *Harness) dueNow() (deploy.Ref, bool) {
	now := h.clock.now()
	var due []deploy.Ref
	for key, t := range h.queue {
		if t.waits && !t.due.After(now) {
			due = append(due, key)
		}
	}
	if len(due) == 0 {
		return deploy.Ref{}, false
	}
	return slices.MinFunc(due, func(a, b deploy.Ref) int {
		return cmp.Or(h.queue[a].due.Compare(h.queue[b].due), cmp.Compare(a.String(), b.String()))
	}), true
}

// next returns the earliest time at which a turn is due for which wanted returns true.
func (h *Harness) next(wanted func(*turn) bool) (at time.Time, ok bool) {
	for _, t := range h.queue {
		if t.waits && wanted(t) && (!ok || t.due.Before(at)) {
			at, ok = t.due, true
		}
	}
	return at, ok
}

// furthered reports whether a reconcile created or deleted an object for the first time in this run.
func (t *turn) furthered(run Run) (further bool) {
	for _, call := range run.Calls {
		if call.Action == deploy.Created || call.Action == deploy.Removed {
			further = further || !t.done[call.String()]
			t.done[call.String()] = true
		}
	}
	return further
}

// after schedules the next reconcile of the resource as the engine does.
func (t *turn) after(run Run, now time.Time) {
	switch {
	case run.Err == nil:
		t.attempt = 0
		t.waits, t.due, t.why = run.Result.RequeueAfter > 0, now.Add(run.Result.RequeueAfter), request.Periodic
	case request.IsPermanent(run.Err):
		t.attempt = 0
	default:
		if request.Resolve(run.Err).Advanced {
			t.attempt = 0
		}
		// As in the engine, but without a random part.
		delay := trigger.Delay(trigger.FirstRetry, trigger.LongestRetry, t.attempt)
		if asked, ok := request.RetryTime(run.Err); ok {
			delay = asked
		}
		t.attempt++
		t.waits, t.due, t.why = true, now.Add(delay), request.Retry
	}
}

// judge sets settled to true if another reconcile without an event wouldn't change anything.
func (t *turn) judge(run Run, changed, timed bool) {
	if changed {
		t.quiet, t.settled = 0, false
		return
	}
	t.quiet++
	t.settled = run.Err == nil && timed && !run.failed() || t.quiet >= quietReconciles
}
