package explore

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
)

// trial is the test of a harness. What fails is a finding, and not the end of the exploration.
type trial struct {
	ctx  context.Context
	stop context.CancelFunc

	mu       sync.Mutex
	cleanups []func()
	// failure is the first failure.
	failure string
}

func newTrial(ctx context.Context) *trial {
	ctx, stop := context.WithCancel(ctx)
	return &trial{ctx: ctx, stop: stop}
}

// run runs f until it returns or fails.
func (t *trial) run(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	<-done
}

// end ends the context, and runs the cleanups. Their failures don't count.
func (t *trial) end() {
	t.stop()
	t.mu.Lock()
	cleanups, failure := t.cleanups, t.failure
	t.mu.Unlock()
	for i := len(cleanups) - 1; i >= 0; i-- {
		t.run(cleanups[i])
	}
	t.failure = failure
}

// Helper implements reconciletest.T.
func (t *trial) Helper() {}

// Context implements reconciletest.T.
func (t *trial) Context() context.Context { return t.ctx }

// Cleanup implements reconciletest.T.
func (t *trial) Cleanup(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cleanups = append(t.cleanups, f)
}

// Failed implements reconciletest.T.
func (t *trial) Failed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.failure != ""
}

// Logf implements reconciletest.T. Logs are left out: a finding shows the requests.
func (t *trial) Logf(string, ...any) {}

// Errorf implements reconciletest.T.
func (t *trial) Errorf(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.failure == "" {
		t.failure = strings.TrimSpace(fmt.Sprintf(format, args...))
	}
}

// Fatalf implements reconciletest.T.
func (t *trial) Fatalf(format string, args ...any) {
	t.Errorf(format, args...)
	runtime.Goexit()
}
