package explore

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/reconciletest"
)

// trial is the test of a harness. What fails is a finding, and not the end of the exploration.
type trial struct {
	ctx  context.Context
	stop context.CancelFunc

	mu       sync.Mutex
	cleanups []func()
	// failure is the first failure.
	failure string
	// shown are the log lines and events since they were last asked for.
	shown []text
	// recorded are the events since they were last asked for.
	recorded []event.Event
	// sent is called after each request of the operator, and wrote after each write, if they are set.
	sent  func()
	wrote func(call reconciletest.Call)
}

func newTrial(ctx context.Context) *trial {
	ctx, stop := context.WithCancel(ctx)
	return &trial{ctx: ctx, stop: stop}
}

// panics is the problem of an operator that panics.
const panics = "the operator panics"

// run runs f until it returns, fails or panics.
func (t *trial) run(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if value := recover(); value != nil {
				t.Errorf("%s: %v\n%s", panics, value, debug.Stack())
			}
		}()
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

// Logf implements reconciletest.T. Logs are kept only for the oracles: a finding shows the requests.
func (t *trial) Logf(format string, args ...any) { t.show("the log", fmt.Sprintf(format, args...)) }

// Record implements event.Sink.
func (t *trial) Record(e event.Event) {
	t.show("an event", e.Note)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.recorded = append(t.recorded, e)
}

// events returns the events since the last call.
func (t *trial) events() []event.Event {
	t.mu.Lock()
	defer t.mu.Unlock()
	recorded := t.recorded
	t.recorded = nil
	return recorded
}

func (t *trial) show(where, content string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.shown = append(t.shown, text{where, content})
}

// texts returns the log lines and events since the last call.
func (t *trial) texts() []text {
	t.mu.Lock()
	defer t.mu.Unlock()
	shown := t.shown
	t.shown = nil
	return shown
}

// observe passes on the requests of the operator.
func (t *trial) observe(call reconciletest.Call) {
	if t.sent != nil {
		t.sent()
	}
	if t.wrote != nil && call.Write() {
		t.wrote(call)
	}
}

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
