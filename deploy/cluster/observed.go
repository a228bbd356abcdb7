package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/util/wait"
)

// Observer is implemented by the View of a Cluster.
type Observer interface {
	// Observed waits until reads of ref are at least as new as resourceVersion, which may be the version of any object
	// of its kind. It returns at once for objects that aren't watched, because these are read from the API server. Own
	// writes don't need it, because reads show them at once. Observed doesn't wait until subscribers have handled the
	// events. If the kind can't be read, it returns the reason, such as a *deploy.ForbiddenError. At the deadline of
	// ctx it returns a *deploy.TimeoutError. When the context of New ends, it returns the cause. If client-go's feature
	// AtomicFIFO is off, only versions of ref itself count, and Observed doesn't notice the deletion of ref.
	Observed(ctx context.Context, ref deploy.Ref, resourceVersion string) error
}

// observedPoll is the interval at which Observed polls. It polls because versions without an event, such as the
// versions of bookmarks, don't wake it.
const observedPoll = 5 * time.Millisecond

var _ Observer = (*store)(nil)

// Observed implements Observer.
func (s *store) Observed(ctx context.Context, ref deploy.Ref, resourceVersion string) error {
	if _, err := resourceversion.CompareResourceVersion(resourceVersion, resourceVersion); err != nil {
		return fmt.Errorf("%s: wait for the object: %w", ref, err)
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
	err := wait.PollUntilContextCancel(ctx, observedPoll, true, func(context.Context) (bool, error) {
		now := informer.shown(ref)
		if reached(now.version, resourceVersion) || now.object != nil && reached(now.object.GetResourceVersion(), resourceVersion) {
			return true, nil
		}
		return s.informerOf(ref) != informer, context.Cause(s.ctx) // true: the informer was closed, so ref isn't watched any more
	})
	if err != nil && ctx.Err() != nil {
		return informer.unobserved(ctx, ref, resourceVersion)
	}
	return err
}

// unobserved returns the error of Observed when ctx ends.
func (i *informer) unobserved(ctx context.Context, ref deploy.Ref, resourceVersion string) error {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return context.Cause(ctx)
	}
	reason := "the watch has not reached version " + resourceVersion
	if _, failure := i.state(); failure != nil {
		reason += ", because the watch fails: " + failure.Error()
	}
	return &deploy.TimeoutError{Ref: ref, Reason: reason, Err: ctx.Err()}
}
