package reconciletest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/internal/trigger"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Harness runs a controller on a cluster, for one test. Nothing runs in the background: the controller reconciles only
// during Reconcile, RunUntilSettled and Advance. A Harness is for one goroutine; every error fails the test.
type Harness struct {
	t           T
	options     options
	controllers []reconcile.Controller
	clock       *clock
	faults      *faults
	// cluster is the cluster for requests of the test itself. memory is that cluster if it is in memory, otherwise nil.
	cluster     deploy.Cluster
	memory      *dryrun.Cluster
	simulator   *simulator
	reconcilers map[schema.GroupVersionKind]reconciler
	events      *events
	queue       map[deploy.Ref]*turn
	runs        []Run
	// applied are the objects that the test itself has applied.
	applied map[deploy.Ref]bool
	// update reports whether golden files are to be written.
	update func() bool

	mu    sync.Mutex
	calls []Call
}

// reconciler is a reconciler that the harness runs.
type reconciler interface {
	Kind() schema.GroupVersionKind
	Reconcile(ctx context.Context, req request.Request) (request.Result, error)
}

// New returns a harness for controller, on a cluster in memory unless the option On sets another.
func New(t T, controller reconcile.Controller, opts ...Option) *Harness {
	t.Helper()
	o, err := newOptions(opts)
	if err != nil {
		t.Fatalf("reconciletest: %v", err)
	}
	h := &Harness{
		t: t, options: o, controllers: append([]reconcile.Controller{controller}, o.others...),
		clock: &clock{real: o.real != nil, present: Started}, faults: newFaults(),
		cluster: o.real, queue: map[deploy.Ref]*turn{}, applied: map[deploy.Ref]bool{}, update: updating,
	}
	h.simulator = newSimulator(h)
	if o.real == nil {
		if h.memory, err = h.newMemory(); err != nil {
			t.Fatalf("reconciletest: the cluster in memory: %v", err)
		}
		h.cluster = h.memory
	}
	h.events = newEvents(h)
	h.start()
	for _, kind := range h.events.looked() {
		if err := h.events.watch(kind); err != nil && (h.reconcilers[kind] != nil || !failure.Is[*deploy.KindUnknownError](err)) {
			t.Fatalf("reconciletest: watch %s: %v", kind.Kind, err)
		}
	}
	h.look()
	return h
}

func (h *Harness) newMemory() (*dryrun.Cluster, error) {
	definitions, err := readDefinitions(h.options.definitions)
	if err != nil {
		return nil, err
	}
	memory := []dryrun.Option{dryrun.Objects(definitions...), dryrun.Admit(h.simulator.admit)}
	if len(definitions) == 0 {
		memory = append(memory, dryrun.AnyKind())
	} else {
		memory = append(memory, dryrun.Namespaces(h.options.namespace))
	}
	memory = append(memory, h.options.memory...)
	return dryrun.New(append(memory, dryrun.Clock(h.clock.now))...)
}

// start makes new reconcilers.
func (h *Harness) start() {
	h.t.Helper()
	h.reconcilers, h.events.rules = map[schema.GroupVersionKind]reconciler{}, map[schema.GroupVersionKind]*trigger.Rules{}
	patches, err := h.newPatching(h.newManager())
	if err != nil {
		h.t.Fatalf("reconciletest: %v", err)
	}
	for _, controller := range h.controllers {
		reconciler, err := reconcile.New(controller, h.newManager(),
			h.reconcilerOptions(append(slices.Clone(h.options.reconciler), patches.options()...)...)...)
		if err != nil {
			h.t.Fatalf("reconciletest: %v", err)
		}
		h.add(reconciler, fmt.Sprintf("controller %T", controller))
	}
	if patches == nil {
		return
	}
	reconciler, err := patches.reconciler(h.t.Context(), h.memory, h.reconcilerOptions())
	if err != nil {
		h.t.Fatalf("reconciletest: temporary patches: %v", err)
	}
	h.add(reconciler, "temporary patches")
}

// newManager returns a new Manager, which has no cached state.
func (h *Harness) newManager() *deploy.Manager {
	h.t.Helper()
	manager, err := deploy.NewManager(observed{h.cluster, h}, h.options.manager...)
	if err != nil {
		h.t.Fatalf("reconciletest: %v", err)
	}
	return manager
}

func (h *Harness) add(r reconciler, name string) {
	h.t.Helper()
	if _, twice := h.reconcilers[r.Kind()]; twice {
		h.t.Fatalf("reconciletest: %s: %s has a controller already", name, r.Kind().Kind)
	}
	sources, err := source.Of(r)
	if err != nil {
		h.t.Fatalf("reconciletest: %s: %v", name, err)
	}
	h.reconcilers[r.Kind()] = r
	h.events.rules[r.Kind()] = trigger.NewRules(r.Kind(), sources, h.newManager().KeyDomain(), h.logger())
}

// reconcilerOptions returns the options of the harness around the options of the test.
func (h *Harness) reconcilerOptions(tests ...reconcile.Option) []reconcile.Option {
	first := []reconcile.Option{reconcile.Logger(h.logger())}
	if h.memory != nil {
		first = append(first, reconcile.StartAfter(0))
	}
	return slices.Concat(first, tests, []reconcile.Option{
		reconcile.Clock(h.clock.now), reconcile.WithWatcher(h.events),
		// The recorder comes last, so that it sees the objects that the other patches return.
		reconcile.WithPatches(recorder{h.faults}), reconcile.ObserveComponents(h.faults.observer),
	})
}

func (h *Harness) logger() *slog.Logger { return slog.New(slog.NewTextHandler(logged{h.t}, nil)) }

// Restart restarts the operator: its memory is lost, and every resource is reconciled again. The cluster and injected
// errors stay as they are.
func (h *Harness) Restart() {
	h.t.Helper()
	h.queue = map[deploy.Ref]*turn{}
	h.events.forget()
	h.start()
	h.look()
}

// Memory returns the cluster in memory, to make requests fail (dryrun.Cluster.Fail) and to look at objects. On a real
// cluster it fails the test.
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

// logged writes log lines into the output of a test.
type logged struct{ t T }

func (l logged) Write(line []byte) (int, error) {
	l.t.Logf("%s", strings.TrimRight(string(line), "\n"))
	return len(line), nil
}

// joined lists names in sorted order, each once.
func joined(names []string) string {
	slices.Sort(names)
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(slices.Compact(names), ", ")
}

// readDefinitions reads the CustomResourceDefinitions of files and folders.
func readDefinitions(paths []string) ([]*unstructured.Unstructured, error) {
	var found []*unstructured.Unstructured
	for _, path := range paths {
		objects, err := readManifests(path)
		if err != nil {
			return nil, err
		}
		before := len(found)
		for _, obj := range objects {
			if obj.GetKind() == "CustomResourceDefinition" {
				found = append(found, obj)
			}
		}
		if len(found) == before {
			return nil, fmt.Errorf("%s: %w", path, errors.New("holds no CustomResourceDefinition"))
		}
	}
	return found, nil
}

// T has the methods of a test that a Harness calls; *testing.T, *testing.B and *testing.F implement it. Fatalf must not
// return. Context must end before the functions of Cleanup run.
type T interface {
	// Helper marks the calling function as a helper, so that messages don't show its line.
	Helper()
	// Context is the context of everything that the test runs.
	Context() context.Context
	// Cleanup registers f, which is called when the test has ended.
	Cleanup(f func())
	// Failed reports whether the test has failed.
	Failed() bool
	// Logf logs a message, Errorf also marks the test as failed, and Fatalf also ends it.
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Started is the time at which the clock of a cluster in memory starts.
var Started = time.Date(2030, time.January, 2, 3, 4, 5, 0, time.UTC)

// clock is the time of a harness: the real time, or a time that only the harness moves.
type clock struct {
	real bool

	mu      sync.Mutex
	present time.Time
}

func (c *clock) now() time.Time {
	if c.real {
		return time.Now()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.present
}

// moveTo moves the clock to t, but never back.
func (c *clock) moveTo(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.After(c.present) {
		c.present = t
	}
}

// shownChanges bounds the latest writes of an object that the report of a hot loop shows.
const shownChanges = 3

// stepsPerRun bounds how often the count of reconciles may start again in one run.
const stepsPerRun = 10

// checkHotLoop fails the test when a resource is reconciled again and again.
func (h *Harness) checkHotLoop(key deploy.Ref) {
	h.t.Helper()
	t := h.queue[key]
	if t.count < h.options.maxReconciles && t.total < stepsPerRun*h.options.maxReconciles {
		return
	}
	last := h.runs[len(h.runs)-1]
	outcome := fmt.Sprintf("again after %s", last.Result.RequeueAfter)
	if last.Err != nil {
		outcome = last.Err.Error()
	}
	h.t.Fatalf("reconciletest: hot loop: %s was reconciled %d times and hasn't settled (the last ended with: %s).%s", key, t.total, outcome, h.restless())
}

// restless describes the object that was changed most often, and its latest changes.
func (h *Harness) restless() string {
	counts := map[string]int{}
	most := ""
	calls := h.Calls()
	for _, call := range calls {
		if len(call.Changes) == 0 {
			continue
		}
		object := strings.TrimSpace(call.Ref.String() + " " + call.Subresource)
		if counts[object]++; most == "" || counts[object] > counts[most] {
			most = object
		}
	}
	if most == "" {
		return " No object was changed: the resource itself, or the results of its reconciles, caused the reconciles."
	}
	var latest []string
	for i := len(calls) - 1; i >= 0 && len(latest) < shownChanges; i-- {
		call := calls[i]
		if strings.TrimSpace(call.Ref.String()+" "+call.Subresource) != most || len(call.Changes) == 0 {
			continue
		}
		var lines strings.Builder
		for _, change := range h.withoutHash(call.Changes) {
			fmt.Fprintf(&lines, "\n  %s", change)
		}
		latest = append([]string{lines.String()}, latest...)
	}
	return fmt.Sprintf("\n%s was changed %d times; its latest changes:%s", most, counts[most], strings.Join(latest, "\n  then"))
}

// withoutHash drops the change of the annotation with the hash of the applied content, unless nothing else changed.
func (h *Harness) withoutHash(changes []deploy.Change) []deploy.Change {
	hash := ".metadata.annotations." + h.newManager().KeyDomain() + "/applied-"
	var kept []deploy.Change
	for _, change := range changes {
		if !strings.HasPrefix(change.Path, hash) {
			kept = append(kept, change)
		}
	}
	if len(kept) == 0 {
		return changes
	}
	return kept
}
