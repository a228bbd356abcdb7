package leader

import (
	"context"
	"errors"
	"log/slog"

	"github.com/operkit/operkit/dag"
	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/failure"
)

// reporter logs each change once. It is used by one goroutine at a time.
type reporter struct {
	log *slog.Logger
	// rights names the rights that the service account needs.
	rights string
	// holder is the last known holder; failing: the last attempt failed.
	holder  string
	failing bool
}

func newReporter(o options, lock lock, identity string) reporter {
	return reporter{log: o.logger.With("lock", lock.String(), "identity", identity), rights: lock.rights()}
}

// candidate reports an attempt to take the lock.
func (r *reporter) candidate(ctx context.Context, seen standing, err error) {
	if err == nil {
		if !seen.held && seen.holder != "" && seen.holder != r.holder {
			r.log.InfoContext(ctx, "another replica leads", "leader", seen.holder)
		}
		r.holder = seen.holder
	}
	r.renewal(ctx, err)
}

// renewal reports an attempt to renew or take the lock. A write that lost a race against another one is no failure, and
// the loss of the lock is reported by lost.
func (r *reporter) renewal(ctx context.Context, err error) {
	switch {
	case failure.Is[*deploy.StaleError](err), errors.Is(err, ErrLost), err != nil && r.failing:
		return
	case err == nil && r.failing:
		r.log.InfoContext(ctx, "the lock can be read and written again")
	}
	if r.failing = err != nil; !r.failing {
		return
	}
	log := withStack(r.log, err)
	if forbidden, ok := errors.AsType[*deploy.ForbiddenError](err); ok && forbidden.MissingRight() {
		log = log.With("grant", r.rights)
	}
	log.WarnContext(ctx, "the lock can't be read or written, trying again", "error", err)
}

// withStack returns log with the stack of a panic that err wraps.
func withStack(log *slog.Logger, err error) *slog.Logger {
	if panicked, ok := errors.AsType[*dag.PanicError](err); ok {
		return log.With("at", panicked.Location(), "stack", string(panicked.Stack))
	}
	return log
}

func (r *reporter) leading(ctx context.Context) { r.log.InfoContext(ctx, "this replica leads") }

func (r *reporter) lost(ctx context.Context, cause error) {
	r.holder, r.failing = "", false
	r.log.ErrorContext(ctx, "this replica has lost the leadership", "error", cause)
}

func (r *reporter) released(ctx context.Context, released bool, err error) {
	r.holder, r.failing = "", false
	switch {
	case err != nil:
		r.log.WarnContext(ctx, "the leadership wasn't released: the next leader waits until the lock runs out", "error", err)
	case released:
		r.log.InfoContext(ctx, "the leadership was released")
	default:
		r.log.InfoContext(ctx, "this replica leads no longer")
	}
}

// impossibleError is an error for which another attempt is useless.
type impossibleError struct{ err error }

func (e *impossibleError) Error() string { return e.err.Error() }
func (e *impossibleError) Unwrap() error { return e.err }
