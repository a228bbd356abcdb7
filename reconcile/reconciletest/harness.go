package reconciletest

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/internal/mortal"
	"github.com/operkit/operkit/reconcile/watch"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Harness runs reconcilers on a cluster, for one test. Nothing runs in the background, except external sources:
// reconciles run only during Reconcile, RunUntilSettled and Advance. A Harness is for one goroutine; every error fails
// the test.
type Harness struct {
	t       T
	options options
	// tested are the kinds of the test, and driven their present reconcilers.
	tested   []tested
	driven   map[schema.GroupVersionKind]*driven
	clock    *clock
	faults   *faults
	gate     *gate
	stalls   *stalls
	late     *late
	overlaps overlaps
	// cluster is the cluster for requests of the test itself. memory is that cluster if it is in memory, otherwise nil.
	cluster deploy.Cluster
	memory  *dryrun.Cluster
	// process is the present process of the operator.
	process   atomic.Pointer[mortal.Process]
	simulator *simulator
	webhooks  *webhooks
	events    *events
	// wake signals an event on a real cluster, and keys of an external source.
	wake  chan struct{}
	queue map[deploy.Ref]*turn
	runs  []Run
	// applied are the objects that the test itself has applied, and away the resources that have left the view.
	applied, away map[deploy.Ref]bool
	// update reports whether golden files are to be written.
	update func() bool

	mu    sync.Mutex
	calls []Call
	// begun counts the requests of the latest run, and plans is what happens at them, by number. nextPlans are those of
	// the next run.
	begun            int
	plans, nextPlans map[int]requestPlan
}

// New returns a harness for a controller of sessions, on a cluster in memory unless the option On sets another.
func New(t T, controller reconcile.Controller, opts ...Option) *Harness {
	t.Helper()
	return newHarness(t, tested{sessions: controller}, opts)
}

// Drive is New for a controller of any style, as an operator takes it by operator.Operator.Drive. Its reconciler is
// made when Drive is called, and again at each Restart. All fields of the watch.Env are set, except Events (see the
// option Events).
//
// The reconciler is run as by the engine of package watch, including source.Provider, watch.Observer, watch.Forgetter
// and Result.Wrote. The methods Render, Golden, Fail and FailOnce, and the option With, need a controller of sessions.
func Drive(t T, controller watch.Controller, opts ...Option) *Harness {
	t.Helper()
	return newHarness(t, tested{driven: controller}, opts)
}

func newHarness(t T, first tested, opts []Option) *Harness {
	t.Helper()
	o, err := newOptions(opts)
	if err != nil {
		t.Fatalf("reconciletest: %v", err)
	}
	h := &Harness{
		t: t, options: o, tested: append([]tested{first}, o.others...), clock: newClock(o.real != nil), faults: newFaults(),
		gate: newGate(o.choose), stalls: &stalls{}, late: &late{},
		cluster: o.real, wake: make(chan struct{}, 1), queue: map[deploy.Ref]*turn{},
		applied: map[deploy.Ref]bool{}, away: map[deploy.Ref]bool{}, update: updating,
	}
	if err := h.checkTested(); err != nil {
		t.Fatalf("reconciletest: %v", err)
	}
	if o.choose != nil && !h.clock.bubble {
		t.Fatalf("reconciletest: Interleave: the test runs outside of a bubble, or on a real cluster: run it in synctest.Test")
	}
	h.simulator = newSimulator(h)
	if o.real == nil {
		if h.memory, err = h.newMemory(); err != nil {
			t.Fatalf("reconciletest: the cluster in memory: %v", err)
		}
		h.cluster = seeing{h.memory, h}
	}
	t.Cleanup(func() { h.events.end() })
	h.start()
	return h
}

// start makes new reconcilers, which know nothing yet.
func (h *Harness) start() {
	h.t.Helper()
	h.process.Store(&mortal.Process{})
	h.stalls.end()
	h.late.disarm()
	h.queue, h.driven, h.events = map[deploy.Ref]*turn{}, map[schema.GroupVersionKind]*driven{}, newEvents(h)
	if err := h.makeReconcilers(); err != nil {
		h.t.Fatalf("reconciletest: %v", err)
	}
	h.events.start()
	h.watch()
}

// watch watches the kinds that can be watched by now, and runs their external sources.
func (h *Harness) watch() {
	h.t.Helper()
	if err := h.events.watch(); err != nil {
		h.t.Fatalf("reconciletest: %v", err)
	}
	h.look()
	h.events.runExternal()
}

// Restart restarts the operator. Everything that its process knew is lost: reconcilers are made anew, with a new
// Manager, external sources end and run again, and the next run reconciles every resource. The cluster stays as it is,
// and so do the clock and injected errors.
func (h *Harness) Restart() {
	h.t.Helper()
	h.events.end()
	if err := h.renew(); err != nil {
		h.t.Fatalf("reconciletest: %v", err)
	}
	h.start()
}

// Memory returns the cluster in memory, to make requests fail (dryrun.Cluster.Fail) and to look at objects. Send
// requests to Cluster instead: several changes that are sent to Memory may be one event. On a real cluster it fails the
// test.
func (h *Harness) Memory() *dryrun.Cluster {
	h.t.Helper()
	h.onlyInMemory("Memory")
	return h.memory
}

// Cluster returns the cluster for requests of the test itself: they aren't among the Calls.
func (h *Harness) Cluster() deploy.Cluster { return h.cluster }

// Real reports whether the test runs on a cluster given by On.
func (h *Harness) Real() bool { return h.memory == nil }

// Now returns the time of the reconcilers.
func (h *Harness) Now() time.Time { return h.clock.now() }

func (h *Harness) onlyInMemory(method string) {
	h.t.Helper()
	if h.memory == nil {
		h.t.Fatalf("reconciletest: %s: only a cluster in memory has this method: check Real before", method)
	}
}

func (h *Harness) logger() *slog.Logger { return slog.New(slog.NewTextHandler(logged{h.t}, nil)) }

// woken notes that something has happened that RunUntilSettled may wait for.
func (h *Harness) woken() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}
