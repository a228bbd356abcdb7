package versions

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/versions/internal/wire"
)

// version is one version and the process that it runs in at present.
type version struct {
	name string
	pool *Pool

	mu     sync.Mutex
	closed bool
	// said is what its program last said of itself, nil if it never ran.
	said *wire.Declaration
	// life is its process from when that has said what it controls until it has ended, nil if there is none. starting is closed when an
	// attempt to start one has ended.
	life     *life
	starting chan struct{}
	// placed tells that it has one of the places of those that may run at once.
	placed bool
	inUse  int
	used   time.Time
	// failures counts starts in a row that came to nothing, failed is the reason of the last one, notBefore when to try again.
	failures  int
	failed    error
	notBefore time.Time
	starts    int
	// reviving tells that somebody starts it again although nobody asks for it.
	reviving bool
	// calls counts what its processes were asked, by method.
	calls map[string]int
}

// acquire returns the process of a version, which it starts if there is none. It isn't stopped before it is released.
func (v *version) acquire(ctx context.Context) (*life, func(), error) {
	for {
		l, wait, err := v.take()
		switch {
		case err != nil:
			return nil, nil, err
		case l != nil:
			return l, v.release, nil
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

// take uses the process if it runs. If one is about to run, or to end, that is to be waited for. Neither says that it is the caller's turn to
// start it.
func (v *version) take() (l *life, wait <-chan struct{}, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	pause := time.Until(v.notBefore)
	switch {
	case v.closed:
		return nil, nil, errClosed
	case v.life != nil && v.life.ending():
		return nil, v.life.over, nil
	case v.life != nil:
		v.inUse++
		v.used = time.Now()
		return v.life, nil, nil
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
	var l *life
	var err error
	if crowded == nil {
		if l, err = v.pool.begin(ctx, v); l != nil {
			defer l.bringExternals()
			defer close(l.known)
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
			return context.Cause(ctx) // it isn't the version's fault
		}
		v.fail(fmt.Errorf("version %s: %w", v.name, err))
		return &laterError{request.RetryAfter(time.Until(v.notBefore), v.failed)}
	}
	if v.said == nil || v.said.Release != l.said.Release {
		v.compare(l.said.Release)
	}
	v.life, v.used, v.said = l, time.Now(), l.said
	v.starts++
	return nil
}

// declared is what the version last said of itself, and its process if that runs.
func (v *version) declared() (*wire.Declaration, *life) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.life == nil || v.life.ending() {
		return v.said, nil
	}
	return v.said, v.life
}

// place tells whether the version has a place among those that may run at once, whether it is in use, and since when it isn't.
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

// stopIdle stops the process if it is unused for that long. It tells whether there is none any more.
func (v *version) stopIdle(unused time.Duration) bool {
	v.mu.Lock()
	l := v.life
	if l == nil || v.inUse > 0 || time.Since(v.used) < unused {
		defer v.mu.Unlock()
		return !v.placed
	}
	l.stopped.Store(true)
	v.mu.Unlock()
	l.stop()
	return true
}

// close ends the process, whatever it is about, for good.
func (v *version) close() {
	v.mu.Lock()
	v.closed = true
	l, starting := v.life, v.starting
	v.mu.Unlock()
	if starting != nil {
		<-starting // the pool's end has ended the attempt
		v.mu.Lock()
		l = v.life
		v.mu.Unlock()
	}
	if l != nil {
		l.stop()
	}
}
