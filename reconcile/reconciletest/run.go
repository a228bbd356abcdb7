package reconciletest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/trigger"
	"github.com/operkit/operkit/reconcile/request"
)

// quietFailures is the number of consecutive failures without a change after which a resource counts as settled: enough
// to reach the longest backoff.
const quietFailures = 10

// Run is one reconcile.
type Run struct {
	// At is the time when the reconcile started, on the clock of the harness.
	At time.Time
	// Key names the resource.
	Key deploy.Ref
	// Triggers are the reasons for the reconcile.
	Triggers request.Triggers
	// Attempt counts the consecutive failures before the reconcile.
	Attempt int
	// Result and Err are the results of Reconcile.
	Result request.Result
	Err    error
	// Calls are the requests that the reconcile sent.
	Calls []Call
}

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
	// count counts the reconciles of the run since a reconcile last created or deleted an object for the first time.
	// total counts all reconciles of the run. done are the objects that were created and deleted.
	count, total int
	done         map[string]bool
	// logged is the error that was last logged.
	logged string
}

// Runs returns every reconcile since the test began.
func (h *Harness) Runs() []Run { return slices.Clone(h.runs) }

// Reconcile reconciles one resource once, now, even without an event, and returns what the reconciler returned. The
// simulator (see Hold) reacts only in the next run.
func (h *Harness) Reconcile(resource string) (request.Result, error) {
	h.t.Helper()
	ref := h.find(resource)
	key := ref
	if h.reconcilers[ref.Kind] == nil {
		h.t.Fatalf("reconciletest: reconcile %s: no controller of the test is for that kind", resource)
	}
	h.begin()
	h.look()
	h.reconcile(key)
	last := h.runs[len(h.runs)-1]
	return last.Result, last.Err
}

// RunUntilSettled reconciles and simulates until nothing changes any more. It moves the clock to each next requeue or
// retry, until a reconcile finds nothing to do: once for a ready resource, ten times for a resource that keeps failing.
// A resource that never settles fails the test, and the message shows what keeps changing.
//
// On a real cluster it waits until nothing has happened, not even a retry, for the time quiet of the option On.
func (h *Harness) RunUntilSettled() {
	h.t.Helper()
	h.begin()
	if h.memory == nil {
		h.runReal()
		return
	}
	for h.runPresent() {
		next, ok := h.next(func(t *turn) bool { return !t.settled })
		if !ok {
			return
		}
		h.clock.moveTo(next)
	}
}

// Bring brings resources to reconcile as an external source of a controller (source.Sources) would: in the next run.
// The source itself, such as a poll, needs its own test.
func (h *Harness) Bring(resources ...string) {
	h.t.Helper()
	for _, resource := range resources {
		ref := h.find(resource)
		if h.reconcilers[ref.Kind] == nil {
			h.t.Fatalf("reconciletest: bring %s: no controller of the test is for that kind", resource)
		}
		h.mark(ref, request.External, false)
	}
}

// Advance moves the clock by d. Resources that become due on the way are reconciled at their time, and so are resources
// that these reconciles bring to reconcile.
func (h *Harness) Advance(d time.Duration) {
	h.t.Helper()
	h.onlyInMemory("Advance")
	if d < 0 {
		h.t.Fatalf("reconciletest: advance by %s: time doesn't run backwards", d)
	}
	h.begin()
	end := h.clock.now().Add(d)
	for h.runPresent() {
		next, ok := h.next(func(t *turn) bool { return !t.due.After(end) })
		if !ok {
			break
		}
		h.clock.moveTo(next)
		for _, t := range h.queue {
			t.count, t.total = 0, 0 // reconciles that are due because of time are no hot loop
		}
	}
	h.clock.moveTo(end)
}

// begin starts a run.
func (h *Harness) begin() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls = nil
	for _, t := range h.queue {
		t.quiet, t.settled, t.count, t.total, t.done = 0, false, 0, 0, map[string]bool{}
	}
}

// runPresent runs everything that is due now. It always returns true.
func (h *Harness) runPresent() bool {
	h.t.Helper()
	for {
		h.look()
		if key, ok := h.dueNow(); ok {
			h.reconcile(key)
			h.checkHotLoop(key)
			continue
		}
		acted, err := h.simulator.act(h.t.Context())
		if err != nil {
			h.t.Fatalf("reconciletest: simulate: %v", err)
		}
		if !acted {
			return true
		}
	}
}

// runReal runs until nothing has happened for a while.
func (h *Harness) runReal() {
	h.t.Helper()
	ctx := h.t.Context()
	last := h.clock.now()
	for {
		if h.look() {
			last = h.clock.now()
		}
		if key, ok := h.dueNow(); ok {
			h.reconcile(key)
			h.checkHotLoop(key)
			last = h.clock.now()
			continue
		}
		until := last.Add(h.options.quiet)
		next, ok := h.next(func(t *turn) bool { return t.attempt > 0 && !t.settled || t.due.Before(until) })
		if !ok && !h.clock.now().Before(until) {
			return
		}
		if !ok {
			next = until
		}
		timer := time.NewTimer(time.Until(next))
		select {
		case <-h.events.wake:
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			h.t.Fatalf("reconciletest: not settled: %v", context.Cause(ctx))
		}
		timer.Stop()
	}
}

func (h *Harness) look() bool {
	h.t.Helper()
	changed, err := h.events.look()
	if err != nil {
		h.t.Fatalf("reconciletest: look at the cluster: %v", err)
	}
	return changed
}

// mark makes a resource due now, because of an event.
func (h *Harness) mark(key deploy.Ref, why request.Triggers, anew bool) {
	t := h.turnOf(key)
	if !t.event {
		t.why = 0 // the earlier trigger, of time, no longer applies
	}
	t.waits, t.event, t.due, t.why = true, true, h.clock.now(), t.why|why
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

func (h *Harness) reconcile(key deploy.Ref) {
	h.t.Helper()
	t := h.turnOf(key)
	timed := t.waits && !t.event
	why := t.why
	t.waits, t.event, t.why = false, false, 0
	t.count++
	t.total++
	ref := key
	resource := h.events.resource(ref)
	h.faults.begin(ref, resource != nil && resource.GetDeletionTimestamp() != nil)
	h.mu.Lock()
	first := len(h.calls)
	h.mu.Unlock()
	ctx, cancel := context.WithTimeoutCause(h.t.Context(), trigger.Timeout,
		fmt.Errorf("the reconcile took longer than %s: %w", trigger.Timeout, context.DeadlineExceeded))
	defer cancel()
	run := Run{At: h.clock.now(), Key: key, Triggers: why, Attempt: t.attempt}
	h.events.followers.Begin(key)
	run.Result, run.Err = h.reconcilers[key.Kind].Reconcile(ctx, request.Request{Key: key, Triggers: why, Attempt: t.attempt})
	if run.Err == nil {
		h.events.followers.End(key)
	}
	moved := h.faults.end()
	run.Calls = h.Calls()[first:]
	h.runs = append(h.runs, run)
	if run.Err != nil && run.Err.Error() != t.logged {
		t.logged = run.Err.Error()
		h.t.Logf("reconcile of %s failed: %v", key, run.Err)
	}
	if t.furthered(run) {
		t.count = 0
	}
	t.after(run, h.clock.now())
	changed := h.look()
	t.judge(run, changed || moved, timed)
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
	t.settled = run.Err == nil && timed || t.quiet >= quietFailures
}
