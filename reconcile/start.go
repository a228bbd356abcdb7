package reconcile

import (
	"context"
	"time"

	"github.com/operkit/operkit/status"
)

// startAfter is how long the work may take before the status says that it has begun.
const startAfter = 500 * time.Millisecond

// start has the status say that work has begun (spec: reconcile 48): at once when the resource is brought
// to another version, else only if that takes a while, so that a resource that is as it should be, or soon
// is, costs no write for it. The returned function ends it, before the end is written.
func (r *Reconciler) start(ctx context.Context, s *Session) (end func()) {
	if r.options.dryRun {
		return func() {}
	}
	current := s.CurrentVersion()
	changes := current != "" && s.version != "" && current != s.version
	switch {
	case changes && s.underWay():
		// Its start has been told: to tell it again would undo what was told of it since.
		return func() {}
	case changes:
		r.writeStart(ctx, s)
		return func() {}
	case r.options.startAfter == 0:
		return func() {}
	}
	done := make(chan struct{})
	timer := time.AfterFunc(r.options.startAfter, func() {
		defer close(done)
		r.writeStart(ctx, s)
	})
	return func() {
		if !timer.Stop() {
			<-done
		}
	}
}

// underWay tells whether the status speaks of work on the resource as it is now that isn't done.
func (s *Session) underWay() bool {
	updating, ok := status.Conditions(s.resource).Get(status.ConditionUpdating)
	return ok && updating.ObservedGeneration == s.resource.GetGeneration() && updating.Reason != string(status.UpdatingStable)
}

// writeStart writes what is new at the start of a rollout, if anything is. A status that can't be written
// now is written at the end.
func (r *Reconciler) writeStart(ctx context.Context, s *Session) {
	err := r.setStatus(ctx, s, func(present map[string]any) (status.Application, bool) {
		ready, updating := status.ForStart(present, s.version)
		return status.Application{
			Ready: ready, Updating: updating, SupportedVersions: r.options.supported, Generation: s.resource.GetGeneration(),
			OnlyReady: r.options.onlyReady,
		}, ready.Reason != "" || updating.Reason != ""
	})
	if err != nil {
		s.logger.Info("start status not written", "error", err)
	}
}
