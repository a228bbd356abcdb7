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
	"github.com/operkit/operkit/reconcile/internal/trigger"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Harness is one cluster on which one test runs its controller. Nothing happens by itself: the controller
// reconciles while Reconcile, RunUntilSettled or Advance run. It is for one goroutine; whatever goes wrong
// fails the test.
type Harness struct {
	t           T
	options     options
	controllers []reconcile.Controller
	clock       *clock
	faults      *faults
	// cluster is the one that the test itself uses, memory the same if it is one in memory.
	cluster     deploy.Cluster
	memory      *dryrun.Cluster
	simulator   *simulator
	reconcilers map[schema.GroupVersionKind]reconciler
	events      *events
	queue       map[deploy.Ref]*turn
	runs        []Run
	// applied are the objects that the test itself has applied.
	applied map[deploy.Ref]bool
	// update tells whether golden files are to be written.
	update func() bool

	mu    sync.Mutex
	calls []Call
}

// reconciler is what the harness runs.
type reconciler interface {
	Kind() schema.GroupVersionKind
	Reconcile(ctx context.Context, req request.Request) (request.Result, error)
}

// New returns a harness for controller, on a cluster in memory unless On says otherwise.
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
		var unknown *deploy.KindUnknownError
		if err := h.events.watch(kind); err != nil && (h.reconcilers[kind] != nil || !errors.As(err, &unknown)) {
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

// start makes the reconcilers, which know nothing of what was before.
func (h *Harness) start() {
	h.t.Helper()
	h.reconcilers, h.events.rules = map[schema.GroupVersionKind]reconciler{}, map[schema.GroupVersionKind]*trigger.Rules{}
	patches, err := h.newPatching(deploy.NewManager(observed{h.cluster, h}, h.options.manager...))
	if err != nil {
		h.t.Fatalf("reconciletest: %v", err)
	}
	for _, controller := range h.controllers {
		reconciler, err := reconcile.New(controller, deploy.NewManager(observed{h.cluster, h}, h.options.manager...),
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
	domain := deploy.NewManager(h.cluster, h.options.manager...).KeyDomain()
	h.events.rules[r.Kind()] = trigger.NewRules(r.Kind(), sources, domain, h.logger())
}

// reconcilerOptions are the harness's, around those of the test.
func (h *Harness) reconcilerOptions(tests ...reconcile.Option) []reconcile.Option {
	first := []reconcile.Option{reconcile.Logger(h.logger())}
	if h.memory != nil {
		first = append(first, reconcile.StartAfter(0))
	}
	return slices.Concat(first, tests, []reconcile.Option{
		reconcile.Clock(h.clock.now), reconcile.WithWatcher(h.events),
		// Last, so that it sees what the others make of an object.
		reconcile.WithPatches(seeing{h.faults}), reconcile.Observe(h.faults.observer),
	})
}

func (h *Harness) logger() *slog.Logger { return slog.New(slog.NewTextHandler(logged{h.t}, nil)) }

// Restart has the operator start anew, with nothing in its memory: every resource is reconciled again. The
// cluster, and errors that were injected, stay as they are.
func (h *Harness) Restart() {
	h.t.Helper()
	h.queue = map[deploy.Ref]*turn{}
	h.events.forget()
	h.start()
	h.look()
}

// Memory returns the cluster in memory, to have requests fail (dryrun.Cluster.Fail) and to look at objects. On a
// real cluster it fails the test.
func (h *Harness) Memory() *dryrun.Cluster {
	h.t.Helper()
	h.onlyInMemory("Memory")
	return h.memory
}

// Cluster returns the cluster as the test itself uses it: what goes through it isn't among the Calls.
func (h *Harness) Cluster() deploy.Cluster { return h.cluster }

// Real tells whether the test runs on a cluster that On gave.
func (h *Harness) Real() bool { return h.memory == nil }

// Now is the time by the clock of the reconcilers.
func (h *Harness) Now() time.Time { return h.clock.now() }

func (h *Harness) onlyInMemory(method string) {
	h.t.Helper()
	if h.memory == nil {
		h.t.Fatalf("reconciletest: %s: only a cluster in memory has it: ask Real before", method)
	}
}

// logged writes log lines into the output of a test.
type logged struct{ t T }

func (l logged) Write(line []byte) (int, error) {
	l.t.Logf("%s", strings.TrimRight(string(line), "\n"))
	return len(line), nil
}

// joined lists names in their order, each once.
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
