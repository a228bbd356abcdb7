package versions

import (
	"errors"
	"fmt"
	"time"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
)

const (
	// soon and late are the bounds of the pause before a version is started that has ended again and again; steady is how long one has to
	// run for its end not to count.
	soon   = 100 * time.Millisecond
	late   = 30 * time.Second
	steady = 10 * time.Second
)

// fail has the next start wait, longer each time. The caller holds mu.
func (v *version) fail(err error) {
	v.failed = err
	v.notBefore = time.Now().Add(min(soon<<min(v.failures, 20), late))
	v.failures++
}

// ended is told that its process has ended.
func (v *version) ended(l *life) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.life != l {
		return // it has never come to anything, and whoever has started it knows
	}
	v.life, v.placed = nil, false
	logger := v.pool.options.Logger.With("version", v.name)
	switch {
	case l.stopped.Load():
		v.failures = 0
		return
	case time.Since(l.started) >= steady:
		v.failures = 0
		logger.Warn("a version has ended; it is started again when it is needed", "error", l.err)
	default:
		v.fail(reconcile.Passing(fmt.Errorf("version %s: %w", v.name, l.err)))
		logger.Warn("a version has ended soon after its start; it is started again when it is needed", "error", l.err, "not_before", time.Until(v.notBefore).String())
	}
	if !v.closed && !v.reviving && v.said.HasExternal() {
		v.reviving = true
		v.pool.run(v.revive)
	}
}

// revive starts a version again that has external sources: what these bring nobody else does.
func (v *version) revive() {
	defer func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.reviving = false
	}()
	for v.pool.ctx.Err() == nil {
		_, release, err := v.acquire(v.pool.ctx)
		if err == nil {
			release()
			return
		}
		pause, ok := request.RetryTime(err)
		if !ok {
			pause = soon
		}
		timer := time.NewTimer(pause)
		select {
		case <-v.pool.ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
	}
}

// gone is err for who has asked a process that is gone: to be asked again once the next one may start.
func (v *version) gone(err error) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return &laterError{request.RetryAfter(max(time.Until(v.notBefore), soon), reconcile.Passing(fmt.Errorf("version %s: %w", v.name, err)))}
}

// laterError is why a version doesn't run yet. How long that takes is no part of its text: a status that has it would be a new one each time.
type laterError struct{ retry error }

func (e *laterError) Error() string { return errors.Unwrap(e.retry).Error() }
func (e *laterError) Unwrap() error { return e.retry }
