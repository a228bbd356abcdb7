package reconcile

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/internal/memory"
	"github.com/operkit/operkit/reconcile/request"
)

// hangReminder is how often a deletion that hangs for the same reason is reported again: the cluster keeps events for an
// hour.
const hangReminder = 30 * time.Minute

// deleting returns for how long the resource is being deleted, 0 if it isn't.
func (s *Session) deleting() time.Duration {
	if at := s.resource.GetDeletionTimestamp(); at != nil {
		return max(s.reconciler.now().Sub(at.Time), 1)
	}
	return 0
}

// waitForOthers reports the finalizers of others, which delay the deletion of a resource for which nothing is left to
// finalize, once they have done so for the time of Recheck. removed are the finalizers that this reconcile has removed.
func (r *Reconciler) waitForOthers(ctx context.Context, s *Session, removed []string) (request.Result, error) {
	others := slices.DeleteFunc(slices.Clone(s.resource.GetFinalizers()), func(name string) bool { return slices.Contains(removed, name) })
	switch left := r.options.recheck - s.deleting(); {
	case len(others) == 0 || r.options.dryRun:
		return request.Result{}, nil
	case left > 0 || s.finalized:
		return request.Result{RequeueAfter: max(left, time.Second)}, nil
	}
	return r.ended(ctx, s, nil, request.Precondition("waiting for the finalizers of others: %s", strings.Join(others, ", ")))
}

// reportHang writes a line to the log, and an event, if the deletion of the resource still waits after the time of
// Recheck. A new reason is reported after that time again, and the same one after hangReminder.
func (s *Session) reportHang() {
	since, pause := s.deleting(), s.reconciler.options.recheck
	if since == 0 || since < pause || s.finalized {
		return
	}
	text, due := s.waitsFor(), false
	s.update(func(m *memory.Resource) { due = m.Hangs(text, s.reconciler.now(), pause, hangReminder) })
	if due {
		s.logger.Warn("the deletion hangs", "since", since.Round(time.Second), "reason", text)
		s.Event(event.Warning, EventHangs, "the deletion hangs: %s", text)
	}
}

// waitsFor describes what the session waited for at its end, empty for nothing.
func (s *Session) waitsFor() string {
	switch {
	case request.IsWaiting(s.ended.err):
		return s.ended.err.Error()
	case s.ended.err == nil && s.ended.outcome != nil:
		return s.waitingMessage(*s.ended.outcome)
	}
	return ""
}
