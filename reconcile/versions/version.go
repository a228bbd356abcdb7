package versions

import (
	"context"
	"fmt"
	"sync"
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

// version is one version and the process that it runs in at present.
type version struct {
	name string
	pool *Pool

	mu sync.Mutex
	// said is what its program last said that it is.
	said string
	// life is its process, nil if there is none. starting is closed when an attempt to start it has ended.
	life     *life
	starting chan struct{}
	inUse    int
	used     time.Time
	// failures counts starts in a row that came to nothing, failed is the reason of the last one, notBefore when to try again.
	failures  int
	failed    error
	notBefore time.Time
	starts    int
	// calls counts what its processes were asked, by method.
	calls map[string]int
}

// acquire returns the process of a version, which it starts if there is none. It isn't stopped before it is released.
func (v *version) acquire(ctx context.Context) (l *life, release func(), err error) {
	for {
		v.mu.Lock()
		starting := v.starting
		switch {
		case v.life != nil && !v.life.gone():
			defer v.mu.Unlock()
			v.inUse++
			v.used = time.Now()
			return v.life, v.release, nil
		case starting != nil:
			v.mu.Unlock()
			select {
			case <-starting:
			case <-ctx.Done():
				return nil, nil, context.Cause(ctx)
			}
			continue
		}
		if pause := time.Until(v.notBefore); pause > 0 {
			defer v.mu.Unlock()
			return nil, nil, request.RetryAfter(pause, v.failed)
		}
		v.starting = make(chan struct{})
		v.mu.Unlock()
		if err := v.start(ctx); err != nil {
			return nil, nil, err
		}
	}
}

func (v *version) release() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.inUse--
	v.used = time.Now()
}

// start starts the process.
func (v *version) start(ctx context.Context) error {
	err := v.pool.makeRoom(v)
	var l *life
	crowded := err != nil
	if !crowded {
		l, err = v.pool.begin(ctx, v)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	close(v.starting)
	v.starting = nil
	switch {
	case crowded:
		return err
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx) // it isn't the version's fault
	case err != nil:
		v.fail(fmt.Errorf("version %s: %w", v.name, err))
		return v.failed
	}
	v.life, v.used, v.said = l, time.Now(), l.said.Release
	v.starts++
	return nil
}

// fail has the next start wait, longer each time. The caller holds mu.
func (v *version) fail(err error) {
	v.failed = err
	v.notBefore = time.Now().Add(min(soon<<min(v.failures, 20), late))
	v.failures++
}

// ended is told that the process of a life has ended that was started at a time.
func (v *version) ended(l *life, started time.Time, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.life != l {
		return
	}
	v.life = nil
	switch {
	case l.stopped.Load():
		v.failures = 0
	case time.Since(started) >= steady:
		v.failures = 0
		v.pool.options.Logger.Warn("a version has ended; it is started again when it is needed", "version", v.name, "error", err)
	default:
		v.fail(reconcile.Passing(fmt.Errorf("version %s: %w", v.name, err)))
		v.pool.options.Logger.Warn("a version has ended soon after its start", "version", v.name, "error", err, "again_in", time.Until(v.notBefore).String())
	}
}

func (v *version) alive() *life {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.life
}

func (v *version) lastUse() time.Time {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.used
}

// idleSince tells whether a process runs, and since when it isn't in use; a zero time says that it is.
func (v *version) idleSince() (running bool, since time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.life == nil {
		return v.starting != nil, time.Time{}
	}
	if v.inUse > 0 {
		return true, time.Time{}
	}
	return true, v.used
}

// stopIdle stops the process if it is unused for that long, and tells whether it did.
func (v *version) stopIdle(unused time.Duration) bool {
	v.mu.Lock()
	l := v.life
	if l == nil || v.inUse > 0 || time.Since(v.used) < unused {
		v.mu.Unlock()
		return false
	}
	v.life = nil
	v.mu.Unlock()
	l.stop()
	return true
}

// stop ends the process, whatever it is about.
func (v *version) stop() {
	v.mu.Lock()
	l, starting := v.life, v.starting
	v.mu.Unlock()
	if starting != nil {
		<-starting // the pool's end has ended the attempt
		l = v.alive()
	}
	if l != nil {
		l.stop()
	}
}
