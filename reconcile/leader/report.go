package leader

import (
	"context"
	"errors"
	"log/slog"

	"github.com/operkit/operkit/deploy"
)

// reporter says what changes, once. It is used by one goroutine at a time.
type reporter struct {
	log *slog.Logger
	// rights are what a replica has to be granted.
	rights string
	// holder is who is known to lead, failing whether the last attempt failed.
	holder  string
	failing bool
}

func newReporter(o options, lock lock, identity string) reporter {
	return reporter{log: o.logger.With("lock", lock.String(), "identity", identity), rights: lock.rights()}
}

// candidate reports an attempt to take the lock.
func (r *reporter) candidate(ctx context.Context, seen standing, err error) {
	switch {
	case err != nil:
		r.trouble(ctx, err)
		return
	case !seen.held && seen.holder != "" && seen.holder != r.holder:
		r.log.InfoContext(ctx, "another replica leads", "leader", seen.holder)
	}
	r.recovered(ctx)
	r.holder = seen.holder
}

func (r *reporter) trouble(ctx context.Context, err error) {
	if lostRace(err) {
		return
	}
	if r.failing {
		return
	}
	r.failing = true
	log := r.log
	var panicked *panicError
	if errors.As(err, &panicked) {
		log = log.With("stack", string(panicked.stack))
	}
	var forbidden *deploy.ForbiddenError
	if errors.As(err, &forbidden) && forbidden.MissingRight() {
		log = log.With("grant", r.rights)
	}
	log.WarnContext(ctx, "the lock can't be read or written, trying on", "error", err)
}

// lostRace tells whether somebody else wrote at the same time, which is no trouble.
func lostRace(err error) bool {
	var stale *deploy.StaleError
	return errors.As(err, &stale)
}

func (r *reporter) recovered(ctx context.Context) {
	if r.failing {
		r.log.InfoContext(ctx, "the lock can be read and written again")
	}
	r.failing = false
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
		r.log.WarnContext(ctx, "the leadership ends without having been released: the next leader waits for it to run out", "error", err)
	case released:
		r.log.InfoContext(ctx, "the leadership was released")
	default:
		r.log.InfoContext(ctx, "this replica has ended to lead")
	}
}
