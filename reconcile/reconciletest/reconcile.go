package reconciletest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/operkit/operkit/dag"
	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/internal/trigger"
	"github.com/operkit/operkit/reconcile/reconciletest/internal/waiting"
	"github.com/operkit/operkit/reconcile/request"
)

// reconcile reconciles a resource, and schedules its next reconcile.
func (h *Harness) reconcile(key deploy.Ref) *turn {
	h.t.Helper()
	now := h.clock.now()
	t, req, timed := h.take(key)
	h.mu.Lock()
	first := len(h.calls)
	h.mu.Unlock()
	run := Run{At: now, Key: key, Triggers: req.Triggers, Attempt: req.Attempt}
	h.faults.begin(key, h.isDeleting(key))
	h.overlaps.key = key
	run.Result, run.Err = h.call(req)
	moved := h.faults.end()
	run.Calls = callsOf(h.Calls()[first:], false)
	h.runs = append(h.runs, run)
	h.logFailure(t, run)
	if t.furthered(run) {
		t.count = 0
	}
	t.after(run, h.clock.now())
	changed := h.look() || moved || h.memory == nil && run.changed()
	t.beat = h.beats(run)
	t.judge(run, changed && !t.beat, timed)
	return t
}

// take takes the turn of a resource. timed: it is due because of time.
func (h *Harness) take(key deploy.Ref) (t *turn, req request.Request, timed bool) {
	t = h.turnOf(key)
	timed = t.waits && (!t.event || t.beat) // the event is that of a heartbeat
	req = request.Request{Key: key, Triggers: t.why, Attempt: t.attempt}
	if t.waits {
		req.Waited = max(0, h.clock.now().Sub(t.due))
	}
	t.waits, t.event, t.why = false, false, 0
	t.count++
	t.total++
	return t, req, timed
}

// call calls the reconciler, and waits for what runs beside it.
func (h *Harness) call(req request.Request) (result request.Result, err error) {
	h.t.Helper()
	ends := h.gate.run(func() {
		result, err = h.send(h.t.Context(), req)
		h.overlaps.running.Wait()
	})
	if !ends {
		h.t.Fatalf("reconciletest: a reconcile never ends: %s: its context has ended, and it still waits%s",
			req.Key, strings.Join(append([]string{""}, waiting.At(waiting.Bubble())...), "\n  at "))
	}
	return result, err
}

// send calls the reconciler, as an engine does.
func (h *Harness) send(ctx context.Context, req request.Request) (request.Result, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, trigger.Timeout,
		fmt.Errorf("the reconcile took longer than %s: %w", trigger.Timeout, context.DeadlineExceeded))
	defer cancel()
	h.events.followers.Begin(req.Key)
	h.events.echoes.Begin(req.Key)
	result, err := failure.Value(func() (request.Result, error) { return h.driven[req.Key.Kind].Reconcile(ctx, req) })
	wrote := result.Wrote
	if request.IsPermanent(err) {
		wrote = nil
	}
	if err == nil {
		h.events.followers.End(req.Key)
	}
	h.events.echoes.End(req.Key, wrote, h.events.followers.Follows(req.Key))
	return result, err
}

func (h *Harness) isDeleting(key deploy.Ref) bool {
	resource, err := h.cluster.View().Get(h.t.Context(), key)
	return err == nil && resource != nil && resource.GetDeletionTimestamp() != nil
}

// logFailure logs an error that the reconcile before didn't have.
func (h *Harness) logFailure(t *turn, run Run) {
	if run.Err == nil || run.Err.Error() == t.logged {
		return
	}
	t.logged = run.Err.Error()
	h.t.Logf("reconcile of %s failed: %v", run.Key, run.Err)
	if panicked, ok := run.Err.(*dag.PanicError); ok { // a reconciler that wraps a panic has logged it
		h.t.Logf("%s", panicked.Stack)
	}
}

// failed reports whether a request of the reconcile failed: some reconcilers ask for a retry without an error.
func (r Run) failed() bool {
	return slices.ContainsFunc(r.Calls, func(c Call) bool { return c.Err != nil })
}

// changed reports whether the reconcile wrote something that wasn't there.
func (r Run) changed() bool {
	return slices.ContainsFunc(r.Calls, func(c Call) bool {
		return c.Action == deploy.Created || c.Action == deploy.Configured || c.Action == deploy.Removed
	})
}
