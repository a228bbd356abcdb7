package reconciletest

import (
	"context"
	"sync"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
)

// Overlap reconciles a resource in the middle of the reconcile of another one, as an engine with several workers may
// do: before the nth request of the next run is sent, numbered as for FailRequest. The other reconcile goes on when this
// one has ended, or waits for it. Nothing happens if the resource doesn't exist by then, or the request is one of its own.
// The requests of both are among the Calls, and each Run has its own. It needs the option Interleave.
func (h *Harness) Overlap(nth int, resource string) {
	h.t.Helper()
	if h.options.choose == nil {
		h.t.Fatalf("reconciletest: overlap %s: the order of requests isn't set: use the option Interleave", resource)
	}
	key := h.find(resource)
	if h.driven[key.Kind] == nil {
		h.t.Fatalf("reconciletest: overlap %s: no controller of the test is for that kind", resource)
	}
	h.BeforeRequest(nth, func() { h.overlaps.begin(h, key) })
}

// overlaps are the reconciles that run beside the present one.
type overlaps struct {
	// key is the resource of the present reconcile.
	key     deploy.Ref
	running sync.WaitGroup
}

// begin begins a reconcile, and returns when what it does has gone first.
func (o *overlaps) begin(h *Harness, key deploy.Ref) {
	resource, err := h.cluster.View().Get(h.t.Context(), key)
	if err != nil || resource == nil || key == o.key || h.Killed() {
		return
	}
	o.running.Go(func() { h.reconcileBeside(key) })
	h.gate.last()
}

// besideKey is the key of a context of a reconcile that runs beside another one.
type besideKey struct{}

// reconcileBeside reconciles a resource beside the present reconcile.
func (h *Harness) reconcileBeside(key deploy.Ref) {
	h.mark(key, request.External, h.clock.now(), false)
	t, req, _ := h.take(key)
	run := Run{At: h.clock.now(), Key: key, Triggers: req.Triggers, Attempt: req.Attempt}
	h.mu.Lock()
	first := len(h.calls)
	h.mu.Unlock()
	run.Result, run.Err = h.send(context.WithValue(h.t.Context(), besideKey{}, true), req)
	run.Calls = callsOf(h.Calls()[first:], true)
	h.runs = append(h.runs, run)
	h.logFailure(t, run)
	t.after(run, h.clock.now())
	t.judge(run, run.changed(), false)
}

// callsOf returns the calls of the reconcile beside another one, or those of that other one.
func callsOf(calls []Call, beside bool) (own []Call) {
	for _, call := range calls {
		if call.beside == beside {
			own = append(own, call)
		}
	}
	return own
}
