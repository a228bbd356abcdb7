package reconciletest

import (
	"context"
	"slices"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
)

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

// Runs returns every reconcile since the test began.
func (h *Harness) Runs() []Run { return slices.Clone(h.runs) }

// Reconcile reconciles one resource once, now, even without an event, and returns what the reconciler returned. The
// simulator (see Hold) reacts only in the next run.
func (h *Harness) Reconcile(resource string) (request.Result, error) {
	h.t.Helper()
	ref := h.find(resource)
	if h.driven[ref.Kind] == nil {
		h.t.Fatalf("reconciletest: reconcile %s: no controller of the test is for that kind", resource)
	}
	h.begin()
	h.reconcile(ref)
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
		switch {
		case ok:
			h.pass(next)
		case !h.late.arrive():
			return
		}
	}
}

// Bring brings resources to reconcile as an external source of a controller (source.Sources) would: in the next run.
// The source itself, such as a poll, needs its own test.
func (h *Harness) Bring(resources ...string) {
	h.t.Helper()
	for _, resource := range resources {
		ref := h.find(resource)
		d := h.driven[ref.Kind]
		if d == nil {
			h.t.Fatalf("reconciletest: bring %s: no controller of the test is for that kind", resource)
		}
		target{h.events, d}.Bring(ref)
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
		switch {
		case !ok && !h.clock.now().Before(end):
			return
		case !ok:
			next = end
		}
		h.pass(next)
		for _, t := range h.queue {
			t.count, t.total = 0, 0 // reconciles that are due because of time are no hot loop
		}
	}
}

// pass lets time pass until next, or in a bubble until something happens before that.
func (h *Harness) pass(next time.Time) { h.clock.pass(h.t.Context(), next, h.wake) }

// begin starts a run.
func (h *Harness) begin() {
	h.t.Helper()
	h.watch()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls, h.begun, h.plans, h.nextPlans = nil, 0, h.nextPlans, nil
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
			h.checkHotLoop(key, h.reconcile(key))
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
			h.checkHotLoop(key, h.reconcile(key))
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
		h.pass(next)
		if ctx.Err() != nil {
			h.t.Fatalf("reconciletest: not settled: %v", context.Cause(ctx))
		}
	}
}

// look handles what has happened. A killed operator is restarted.
func (h *Harness) look() bool {
	h.t.Helper()
	if h.clock.quiesce(); h.Killed() {
		h.Restart()
		return true
	}
	changed, err := h.events.look()
	if err != nil {
		h.t.Fatalf("reconciletest: look at the cluster: %v", err)
	}
	return changed
}
