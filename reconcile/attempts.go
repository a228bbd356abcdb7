package reconcile

import (
	"context"
	"fmt"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
)

// exhausted makes an error permanent when there were enough attempts, see MaxAttempts. A cluster that doesn't answer, and
// somebody else who was quicker, are nobody's failures: they aren't counted.
func (r *Reconciler) exhausted(ctx context.Context, s *Session, err error) error {
	if r.options.maxAttempts == 0 {
		return err
	}
	if classOf(err) <= classVerification {
		r.attempts.forget(deploy.RefOf(s.resource))
		return err
	}
	if isTemporary(err) {
		return err
	}
	_, failures := r.attempts.change(s, func(before int) int { return before + 1 })
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
