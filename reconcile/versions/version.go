package versions

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/operkit/operkit/reconcile/internal/trigger"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/versions/internal/wire"
	semantic "k8s.io/apimachinery/pkg/util/version"
)

// version is one version and its present process.
type version struct {
	name string
	pool *Pool

	mu     sync.Mutex
	closed bool
	// declaration is the declaration of the version's last process, nil if the version never ran.
	declaration *wire.Declaration
	// process is the running process, nil if there is none. It is set when the process has sent its declaration.
	// starting is closed when an attempt to start a process has ended, nil if there is none.
	process  *process
	starting chan struct{}
	// placed: the version counts against Options.Limit.
	placed bool
	inUse  int
	used   time.Time
	// failures is the number of consecutive starts that failed, failed is the last error, and notBefore is the earliest
	// time of the next attempt.
	failures  int
	failed    error
	notBefore time.Time
	starts    int
	// reviving: the version is being started again for its external sources.
	reviving bool
	// calls counts the calls of the version's processes, by method.
	calls map[string]int
}

// acquire returns the process of a version. If none runs, it starts one. The process isn't stopped before release is
// called.
func (v *version) acquire(ctx context.Context) (*process, func(), error) {
	for {
		proc, wait, err := v.take()
		switch {
		case err != nil:
			return nil, nil, err
		case proc != nil:
			return proc, v.release, nil
		case wait == nil:
			if err := v.start(ctx); err != nil {
				return nil, nil, err
			}
			continue
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		}
	}
}

// take returns the process if it runs. Otherwise, if wait isn't nil, wait is closed when a process has started or
// ended. If all results are nil, the caller must start a process.
func (v *version) take() (proc *process, wait <-chan struct{}, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	pause := time.Until(v.notBefore)
	switch {
	case v.closed:
		return nil, nil, errClosed
	case v.process != nil && v.process.ending():
		return nil, v.process.over, nil
	case v.process != nil:
		v.inUse++
		v.used = time.Now()
		return v.process, nil, nil
	case v.starting != nil:
		return nil, v.starting, nil
	case pause > 0:
		return nil, nil, &laterError{request.RetryAfter(pause, v.failed)}
	}
	v.starting = make(chan struct{})
	return nil, nil, nil
}

func (v *version) release() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.inUse--
	v.used = time.Now()
}

// start starts the process.
func (v *version) start(ctx context.Context) error {
	crowded := v.pool.makeRoom(ctx, v)
	var proc *process
	var err error
	if crowded == nil {
		if proc, err = v.pool.begin(ctx, v); proc != nil {
			defer proc.bringExternals()
			defer close(proc.known)
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	close(v.starting)
	v.starting = nil
	switch {
	case crowded != nil:
		return crowded
	case err != nil:
		v.placed = false
		if ctx.Err() != nil {
			return context.Cause(ctx) // the version hasn't failed
		}
		v.fail(fmt.Errorf("version %s: %w", v.name, err))
		return &laterError{request.RetryAfter(time.Until(v.notBefore), v.failed)}
	}
	if v.declaration == nil || v.declaration.Release != proc.declaration.Release {
		v.compare(proc.declaration.Release)
	}
	v.process, v.used, v.declaration = proc, time.Now(), proc.declaration
	v.starts++
	return nil
}

// declared returns the last declaration of the version, and its process if it runs.
func (v *version) declared() (*wire.Declaration, *process) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.process == nil || v.process.ending() {
		return v.declaration, nil
	}
	return v.declaration, v.process
}

// place reports whether the version counts against Options.Limit, when it was last used, and whether it is in use.
func (v *version) place() (placed bool, used time.Time, inUse bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.placed, v.used, v.inUse > 0 || v.starting != nil
}

func (v *version) takePlace() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.placed = true
}

// stopIdle stops the process if it has been unused for the time unused. It reports whether the version has no process.
func (v *version) stopIdle(unused time.Duration) bool {
	v.mu.Lock()
	proc := v.process
	if proc == nil || v.inUse > 0 || time.Since(v.used) < unused {
		defer v.mu.Unlock()
		return !v.placed
	}
	proc.stopped.Store(true)
	v.mu.Unlock()
	proc.stop()
	return true
}

// close ends the process for good, even if it is in use.
func (v *version) close() {
	v.mu.Lock()
	v.closed = true
	proc, starting := v.process, v.starting
	v.mu.Unlock()
	if starting != nil {
		<-starting // the attempt ends soon, since the pool is being closed
		v.mu.Lock()
		proc = v.process
		v.mu.Unlock()
	}
	if proc != nil {
		proc.stop()
	}
}

const (
	// firstPause and longestPause bound the time before a version that ended soon after its start is started again; if
	// a process has run for the time steady, that isn't soon.
	firstPause   = 100 * time.Millisecond
	longestPause = 30 * time.Second
	steady       = 10 * time.Second
)

// fail delays the next start, longer each time. The caller holds mu.
func (v *version) fail(err error) {
	v.failed = err
	v.notBefore = time.Now().Add(min(firstPause<<min(v.failures, 20), longestPause))
	v.failures++
}

// ended records that a process has ended.
func (v *version) ended(proc *process) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.process != proc {
		return // the start of the process has failed
	}
	v.process, v.placed = nil, false
	logger := v.pool.options.Logger.With("version", v.name)
	switch {
	case proc.stopped.Load():
		v.failures = 0
		return
	case time.Since(proc.started) >= steady:
		v.failures = 0
		logger.Warn("a version has ended; it is started again when it is needed", "error", proc.err)
	default:
		v.fail(request.Passing(fmt.Errorf("version %s: %w", v.name, proc.err)))
		logger.Warn("a version has ended soon after its start; it is started again when it is needed", "error", proc.err, "not_before", time.Until(v.notBefore).String())
	}
	if !v.closed && !v.reviving && v.declaration.HasExternal() {
		v.reviving = true
		v.pool.run(v.revive)
	}
}

// revive restarts a version that has external sources: no other event would start it.
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
			pause = firstPause
		}
		trigger.Sleep(v.pool.ctx, pause)
	}
}

// gone returns the error for calling a process that has ended. The call is retried when the next process may start.
func (v *version) gone(err error) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return &laterError{request.RetryAfter(max(time.Until(v.notBefore), firstPause), request.Passing(fmt.Errorf("version %s: %w", v.name, err)))}
}

// laterError is the reason why a version doesn't run yet. Its text omits the time of the retry, since a new time would
// change the status in each reconcile.
type laterError struct{ retry error }

func (e *laterError) Error() string { return errors.Unwrap(e.retry).Error() }
func (e *laterError) Unwrap() error { return e.retry }

// compare logs a warning if the program is of another release than the name of its folder. The program is used anyway.
func (v *version) compare(release string) {
	if otherRelease(v.name, release) {
		v.pool.options.Logger.Warn("the program of a version is of another release: check that it is in the right folder", "version", v.name, "release", release)
	}
}

// otherRelease reports whether both are releases and differ. A program that was built between two releases, such as
// v1.2.1-0.20260102150405-abcdefabcdef, may be in any folder.
func otherRelease(folder, release string) bool {
	is, err := semantic.ParseSemantic(release)
	if err != nil || is.PreRelease() != "" || is.BuildMetadata() != "" {
		return false
	}
	wanted, err := semantic.ParseSemantic(folder)
	return err == nil && !wanted.EqualTo(is)
}
