package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// Observer is what the View of a Cluster offers beside deploy.View.
type Observer interface {
	// Observed returns when reads of ref are at least as new as resourceVersion, one of an
	// object of its kind, because the informer has come to it: at once for what isn't watched,
	// which is read live. Own writes need no waiting. While the kind can't be read at all it
	// returns the reason, such as a *deploy.ForbiddenError; at the deadline of ctx a
	// *deploy.TimeoutError, at the end of the context of New that one's error. It doesn't wait for
	// subscribers. With client-go's feature AtomicFIFO switched off only the versions of ref itself
	// count, and its deletion isn't seen.
	Observed(ctx context.Context, ref deploy.Ref, resourceVersion string) error
}

// observedPoll is how often Observed looks; informers don't tell of everything that they
// come to.
const observedPoll = 5 * time.Millisecond

var _ Observer = (*store)(nil)

// Observed implements Observer.
func (s *store) Observed(ctx context.Context, ref deploy.Ref, resourceVersion string) error {
	if _, err := resourceversion.CompareResourceVersion(resourceVersion, resourceVersion); err != nil {
		return fmt.Errorf("%s: to wait for it: %w", ref, err)
	}
	informer := s.informerOf(ref)
	if informer == nil {
		return nil
	}
	if err := informer.awaitSynced(ctx); errors.Is(err, errClosed) {
		return nil
	} else if err != nil {
		return err
	}
	tick := time.NewTicker(observedPoll)
	defer tick.Stop()
	for {
		now := informer.shown(ref)
		if reached(now.version, resourceVersion) || now.object != nil && reached(now.object.GetResourceVersion(), resourceVersion) {
			return nil
		}
		if s.informerOf(ref) != informer {
			return nil // it isn't watched any more
		}
		select {
		case <-ctx.Done():
			return informer.unobserved(ctx, ref, resourceVersion)
		case <-s.ctx.Done():
			return context.Cause(s.ctx)
		case <-tick.C:
		}
	}
}

// unobserved says why a wait has ended.
func (i *informer) unobserved(ctx context.Context, ref deploy.Ref, resourceVersion string) error {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return context.Cause(ctx)
	}
	reason := "the watch has not come to version " + resourceVersion
	if state := i.failure.Load(); state != nil {
		reason += ", it fails: " + state.err.Error()
	}
	return &deploy.TimeoutError{Ref: ref, Reason: reason, Err: ctx.Err()}
}
