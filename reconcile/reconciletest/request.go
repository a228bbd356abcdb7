package reconciletest

import (
	"github.com/operkit/operkit/deploy/dryrun"
)

// FailRequest makes the nth request of the next run (Reconcile, RunUntilSettled, Advance) meet a fault, 1 for the first
// one, in the order of Calls. Only the fields Code, RetryAfter, Fields and Lost of the fault count. A run with fewer
// requests is no error.
//
// The number means the same request each time only if the reconciler sends one request after the other
// (reconcile.Concurrency, deploy.Concurrency), or in an order that the test sets (Interleave).
func (h *Harness) FailRequest(nth int, fault dryrun.Fault) {
	h.t.Helper()
	h.plan(nth, "fail request", func(r *requestPlan) { r.fault = &fault })
}

// BeforeRequest calls do before the nth request of the next run is sent, numbered as for FailRequest: for what somebody
// else does in the middle of a reconcile. do may use the harness's methods for objects, such as TryEdit and TryDelete.
func (h *Harness) BeforeRequest(nth int, do func()) {
	h.t.Helper()
	h.plan(nth, "before request", func(r *requestPlan) { r.before = append(r.before, do) })
}

// requestPlan is what happens at one request of a run. The zero value is nothing.
type requestPlan struct {
	before []func()
	fault  *dryrun.Fault
}

func (h *Harness) plan(nth int, method string, add func(*requestPlan)) {
	h.t.Helper()
	if nth < 1 {
		h.t.Fatalf("reconciletest: %s %d: use 1 for the first request", method, nth)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.nextPlans == nil {
		h.nextPlans = map[int]requestPlan{}
	}
	plan := h.nextPlans[nth]
	add(&plan)
	h.nextPlans[nth] = plan
}

// request counts a request of the run, and begins what happens at it.
func (h *Harness) request() requestPlan {
	h.mu.Lock()
	h.begun++
	plan := h.plans[h.begun]
	h.mu.Unlock()
	for _, do := range plan.before {
		do()
	}
	return plan
}

// send sends a request, unless its fault keeps it from being sent.
func (p requestPlan) send(call Call, send func() error) error {
	if p.fault == nil {
		return send()
	}
	if p.fault.Lost {
		if err := send(); err != nil {
			return err
		}
	}
	return p.fault.Answer(dryrun.Call{Verb: call.Verb, Ref: call.Ref, Subresource: call.Subresource})
}
