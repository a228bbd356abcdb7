package reconcile

import (
	"context"
	"fmt"
	"sync"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/types"
)

// attempts counts the failures in a row of each resource, for MaxAttempts. A cluster that doesn't answer, and
// somebody else who was quicker, are nobody's failures: they aren't counted. The zero value is ready for use.
type attempts struct {
	mu    sync.Mutex
	known map[deploy.Ref]attempt
}

// attempt is about one spec of one resource: another one starts anew.
type attempt struct {
	uid        types.UID
	generation int64
	failures   int
}

// failed counts a failure and returns how many there are now.
func (a *attempts) failed(s *Session) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	ref, now := deploy.RefOf(s.resource), attempt{s.resource.GetUID(), s.resource.GetGeneration(), 1}
	if last, ok := a.known[ref]; ok && last.uid == now.uid && last.generation == now.generation {
		now.failures += last.failures
	}
	if a.known == nil {
		a.known = map[deploy.Ref]attempt{}
	}
	a.known[ref] = now
	return now.failures
}

func (a *attempts) forget(ref deploy.Ref) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.known, ref)
}

// exhausted makes an error permanent when there were enough attempts.
func (r *Reconciler) exhausted(ctx context.Context, s *Session, err error) error {
	if r.options.maxAttempts == 0 {
		return err
	}
	if classOf(err) <= classVerification {
		r.attempts.forget(deploy.RefOf(s.resource))
		return err
	}
	if _, unavailable := isUnavailable(err); unavailable || IsPassing(err) {
		return err
	}
	failures := r.attempts.failed(s)
	if failures < r.options.maxAttempts {
		return err
	}
	r.attempts.forget(deploy.RefOf(s.resource)) // should something change, it starts anew
	err = fmt.Errorf("given up after %d attempts: %w", failures, err)
	if hook, ok := r.controller.(Exhauster); ok {
		if failed := hooked("exhausted", func() error { return hook.Exhausted(ctx, s, err) }); failed != nil {
			err = fmt.Errorf("%w; %w", err, failed)
		}
	}
	return request.Permanent(err)
}
