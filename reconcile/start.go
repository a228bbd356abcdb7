package reconcile

import (
	"context"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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
	if current := s.CurrentVersion(); current != "" && s.version != "" && current != s.version {
		r.writeStart(ctx, s)
		return func() {}
	}
	if r.options.startAfter == 0 {
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

// writeStart writes what is new at the start of a rollout, if anything is. A status that can't be written
// now is written at the end.
func (r *Reconciler) writeStart(ctx context.Context, s *Session) {
	_, err := r.manager.SetStatus(ctx, deploy.RefOf(s.resource), func(current *unstructured.Unstructured) (map[string]any, error) {
		present, _ := current.Object["status"].(map[string]any)
		ready, updating := status.ForStart(present, s.version)
		if current.GetUID() != s.resource.GetUID() || ready.Reason == "" && updating.Reason == "" {
			return present, nil
		}
		next, changed, err := status.Application{
			Ready: ready, Updating: updating, SupportedVersions: r.options.supported, Generation: s.resource.GetGeneration(),
		}.Update(r.now(), present)
		if err != nil || !changed {
			return present, err
		}
		return r.schema.prune(next), nil
	})
	if err != nil {
		s.logger.Info("start status not written", "error", err)
	}
}
