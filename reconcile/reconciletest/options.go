package reconciletest

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/internal/optional"
	"github.com/operkit/operkit/reconcile/temporarypatch"
	"github.com/operkit/operkit/reconcile/watch"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Option is an option of New. The last one of a kind wins, unless its comment says that several add up; nil is ignored.
type Option func(*options)

type options struct {
	real          deploy.Cluster
	namespace     string
	quiet         time.Duration
	definitions   []string
	memory        []dryrun.Option
	manager       []deploy.Option
	reconciler    []reconcile.Option
	others        []tested
	sink          event.Sink
	patched       bool
	patches       []temporarypatch.Option
	simulations   map[schema.GroupKind]Simulation
	maxReconciles int
	admission     []AdmissionHooks
	converters    []KindConverter
	renew         func() tested
	choose        func(waiting []Call) int
	observers     []func(call Call)
	heartbeats    []func(call Call) bool
}

// On runs the test on the given cluster, such as a real one, instead of a cluster in memory. Then time is real, nothing
// is simulated, and the test works in the namespace of the option Namespace, which must exist. Methods that only a
// cluster in memory has (Advance, Hold, Break, Memory) fail the test. RunUntilSettled returns when nothing has happened
// for the time quiet; 0 means 3 seconds. The caller closes the cluster after the test.
func On(cluster deploy.Cluster, quiet time.Duration) Option {
	return func(o *options) { o.real, o.quiet = cluster, cmp.Or(quiet, 3*time.Second) }
}

// Namespace sets the namespace of objects that don't name a namespace; default "test". On a real cluster other
// namespaces are ignored, and so are cluster-scoped objects that the test hasn't applied itself.
func Namespace(name string) Option { return func(o *options) { o.namespace = name } }

// Definitions adds CustomResourceDefinitions to the cluster in memory, from YAML and JSON files and folders of them,
// and makes it as strict as a server: unknown kinds and fields are refused, and namespaces have to exist (the namespace
// of the test exists). Without Definitions any kind is accepted.
func Definitions(paths ...string) Option {
	return func(o *options) { o.definitions = append(o.definitions, paths...) }
}

// Memory adds options of the cluster in memory, see package dryrun. dryrun.Clock is ignored: the harness sets the
// clock.
func Memory(setup ...dryrun.Option) Option {
	return func(o *options) { o.memory = append(o.memory, setup...) }
}

// Manager adds options of the manager that applies the objects, see package deploy.
func Manager(setup ...deploy.Option) Option {
	return func(o *options) { o.manager = append(o.manager, setup...) }
}

// With adds options of the Reconciler. The harness itself sets reconcile.Clock and reconcile.WithWatcher. In memory it
// sets reconcile.StartAfter(0), since the writes of a status must not depend on how fast the machine is.
func With(setup ...reconcile.Option) Option {
	return func(o *options) { o.reconciler = append(o.reconciler, setup...) }
}

// Also adds further controllers, such as the controller of a child's kind. They get the same options.
func Also(controllers ...reconcile.Controller) Option {
	return func(o *options) {
		for _, controller := range controllers {
			o.others = append(o.others, tested{sessions: controller})
		}
	}
}

// AlsoDrive adds further controllers of any style, see Drive.
func AlsoDrive(controllers ...watch.Controller) Option {
	return func(o *options) {
		for _, controller := range controllers {
			o.others = append(o.others, tested{driven: controller})
		}
	}
}

// Renew sets the function that makes the controller of New or Drive anew at each Restart and Kill, as a new process
// does: so nothing survives that the controller itself remembers. Without Renew the given controller stays. The
// controller must stay one of the same kind and style.
func Renew[C interface {
	Kind() schema.GroupVersionKind
}](controller func() C) Option {
	return func(o *options) {
		o.renew = func() (t tested) {
			made := any(controller())
			t.sessions, _ = made.(reconcile.Controller)
			if t.sessions == nil {
				t.driven, _ = made.(watch.Controller)
			}
			return t
		}
	}
}

// Events sets the sink for events about objects; without it, they are off.
func Events(sink event.Sink) Option { return func(o *options) { o.sink = sink } }

// TemporaryPatches enables temporary patches for the resources of all controllers of the test, and of the reconcilers
// of other styles that take Patches of watch.Env, as package operator does: a TemporaryPatch is applied, edited and
// deleted like any resource. Several options add up. The harness itself sets temporarypatch.Clock. A cluster in memory
// has the CustomResourceDefinition of TemporaryPatch; in a real cluster it must be installed.
func TemporaryPatches(setup ...temporarypatch.Option) Option {
	return func(o *options) { o.patched, o.patches = true, append(o.patches, setup...) }
}

// Simulation returns the status fields that a controller in the cluster would set for an object, nil if it wouldn't set
// any yet. It must not change obj.
type Simulation func(obj *unstructured.Unstructured) map[string]any

// Simulate sets the status that the simulator writes for objects of a kind, in a cluster in memory.
func Simulate(kind schema.GroupKind, simulation Simulation) Option {
	return func(o *options) { o.simulations[kind] = simulation }
}

// MaxReconciles sets how many reconciles of one resource in a run fail the test as a hot loop; default 100. A reconcile
// that creates or deletes an object for the first time in the run starts the count again, up to ten times n in total.
func MaxReconciles(n int) Option { return func(o *options) { o.maxReconciles = n } }

func newOptions(opts []Option) (options, error) {
	o := options{namespace: "test", maxReconciles: 100, simulations: map[schema.GroupKind]Simulation{}}
	optional.Apply(&o, opts)
	switch {
	case o.namespace == "":
		return o, errors.New("namespace: is empty")
	case o.quiet < 0:
		return o, fmt.Errorf("quiet: %s: it can't be negative", o.quiet)
	case o.maxReconciles < 1:
		return o, fmt.Errorf("max reconciles: %d: at least 1 is needed", o.maxReconciles)
	case o.real != nil && len(o.admission)+len(o.converters) > 0:
		return o, errors.New("on a real cluster: Admission and Conversion need a cluster in memory: serve and register the webhooks there")
	case o.real != nil && len(o.memory)+len(o.definitions)+len(o.simulations) > 0:
		return o, errors.New("on a real cluster: Memory, Definitions and Simulate need a cluster in memory: leave them out")
	}
	for kind, simulation := range o.simulations {
		if simulation == nil {
			return o, fmt.Errorf("simulate %s: the simulation is nil", kind)
		}
	}
	return o, nil
}
