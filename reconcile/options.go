package reconcile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/internal/optional"
	"github.com/operkit/operkit/reconcile/patching"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/operkit/operkit/status/readiness"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Option is an option of New. Options are applied in order, the last one wins; nil is ignored. New validates them.
type Option func(*options)

type options struct {
	finalizerName string
	// finalizers are the finalizers that are ours: the first one is added to resources, and all are removed.
	finalizers  []string
	watcher     source.Watcher
	logger      *slog.Logger
	now         func() time.Time
	dryRun      bool
	concurrency int
	recheck     time.Duration
	period      time.Duration
	observers   []func(*Component, deploy.Results)
	around      []around
	revisions   []revision
	prunes      []schema.GroupVersionKind
	patchers    []patching.Patcher
	assets      Assets
	events      event.Sink
	nameObjects bool
	oper8Names  bool
	ownAnywhere bool

	pauseDeletions bool

	versionField, versionOverride, operatorVersion string

	supported, exempt []string
	strict            bool

	statusParts []StatusPart
	startAfter  time.Duration
	maxAttempts int
	readiness   readiness.Checker
}

// Logger sets the logger. Default: slog.Default.
func Logger(logger *slog.Logger) Option { return func(o *options) { o.logger = logger } }

// Clock sets the source of time; default time.Now.
func Clock(now func() time.Time) Option { return func(o *options) { o.now = now } }

// DryRun is for rendering a whole rollout against a cluster in memory: gates count as open and components as ready, and
// one component is deployed after the other.
func DryRun() Option { return func(o *options) { o.dryRun = true } }

// Concurrency sets how many components of one resource are deployed or verified concurrently; default 8. Zero means one
// after the other.
func Concurrency(n int) Option { return func(o *options) { o.concurrency = n } }

// Recheck sets the time after which an incomplete resource is reconciled again without an event; default 1 minute, zero
// means never. A deletion that still waits after this time is reported in the log and by the event EventHangs.
func Recheck(after time.Duration) Option { return func(o *options) { o.recheck = after } }

// Period sets the time after which a complete resource is reconciled again without an event; default 10 minutes, zero
// means never.
func Period(after time.Duration) Option { return func(o *options) { o.period = after } }

// MaxAttempts sets after how many consecutive failures a resource is given up: its error is then permanent, see
// request.Permanent, and Exhausted is called if the Controller implements it. Default 0: never. A failure doesn't count
// in three cases: the cluster didn't answer; the error is request.Passing, such as a write for which another writer was
// faster; or the only objects that failed are left alone for a while because others keep changing them
// (deploy.ConflictError, Fought). After a success, a reconcile that only waits, or a new spec of the resource, counting
// starts at zero.
func MaxAttempts(n int) Option { return func(o *options) { o.maxAttempts = n } }

// FinalizerName sets the name of the finalizer; default "<kind>.<group>/finalizer", with the kind in lower case. With the
// default, a resource with the finalizer "finalizers.<kind>.<group>" of oper8 keeps that one until it is deleted. For a
// Controller without Finalize, this option is an error.
func FinalizerName(name string) Option { return func(o *options) { o.finalizerName = name } }

// WithWatcher sets the Watcher that watches the objects of resources.
func WithWatcher(watcher source.Watcher) Option { return func(o *options) { o.watcher = watcher } }

// WithPatches applies the patches of patcher to the objects of resources, see package temporarypatch. Several patchers
// are applied in the order of the options.
func WithPatches(patcher patching.Patcher) Option {
	return func(o *options) { o.patchers = append(o.patchers, patcher) }
}

// WithAssets gives each session the files of its version, see Session.Assets. Concurrent sessions may use different
// versions.
func WithAssets(assets Assets) Option { return func(o *options) { o.assets = assets } }

// Events records Kubernetes events about resources: for each component whose objects were created or changed; for
// deleted objects; when a resource has become ready or was finalized; and for a failure, once until the error changes.
// A resource that doesn't change has no events. Dry runs record nothing.
func Events(sink event.Sink) Option { return func(o *options) { o.events = sink } }

// NameObjects adds the annotation <domain>/internal-name with the internal name, "<component>.<object>", to every
// object. Authors of patches find the name there.
func NameObjects() Option { return func(o *options) { o.nameObjects = true } }

// Oper8Names makes ScopedName and TruncatedName cut names as oper8 does: to 59 characters and four digits of a hash.
// Such names collide much sooner. Use it for an operator that replaces an oper8 operator and keeps its objects.
func Oper8Names() Option { return func(o *options) { o.oper8Names = true } }

// Prunes names kinds whose objects are deleted when no component renders them any more. Two sorts of kinds need it.
// First, kinds that hold data (deploy.Protected), such as claims: without this option their objects are kept, with an
// event. Second, kinds that only an earlier release of the controller rendered: if that release couldn't record such a
// kind in the status before it ended, its objects are found only by this option. Each named kind is watched.
func Prunes(kinds ...schema.GroupVersionKind) Option {
	return func(o *options) { o.prunes = append(o.prunes, kinds...) }
}

// OwnAnywhere lets namespaced resources own cluster-scoped objects and objects in other namespaces. The garbage
// collector doesn't delete such objects with their owner. So they carry the uid of the owner in the label
// <domain>/owner-uid (deploy.OwnedByLabel). Every resource gets the finalizer, even without a Finalize, and objects
// with the label are deleted before the finalizer is removed. A kind is recorded in the status before its first object
// is applied, so that a crash can't lose the kind; this costs one more write.
func OwnAnywhere() Option { return func(o *options) { o.ownAnywhere = true } }

// PauseDeletions makes the deletion of a paused resource wait until the pause ends: until then it isn't finalized and
// keeps the finalizer. This works only for resources that carry the finalizer. A resource doesn't carry it if the
// Controller has no Finalize, or if the resource was created paused. Without this option paused resources are
// finalized.
func PauseDeletions() Option { return func(o *options) { o.pauseDeletions = true } }

// ReadyBy sets the readiness.Checker for objects without a Judge (ReadyWhen); by default it is the zero Checker, which
// knows the table of package readiness. Its Registry is for kinds that the table doesn't know: functions, expressions
// of package celready, or the rules of known.Kinds, which package operator sets. Several options are merged, field by
// field and kind by kind; later options win. Without a WaitsForConsumer the StorageClass of an unbound claim is read
// from the cluster and followed, which needs the right to get, list and watch storage classes. Without that right such
// a claim isn't ready before it is bound.
func ReadyBy(checker readiness.Checker) Option {
	return func(o *options) { o.readiness = checker.Over(o.readiness) }
}

// ObserveComponents calls observe for each component when its deployment ends, concurrently for different components.
// Several observers are called in the order of the options.
func ObserveComponents(observe func(component *Component, results deploy.Results)) Option {
	return func(o *options) { o.observers = append(o.observers, observe) }
}

// Step is one step of the rollout of a component.
type Step string

// The steps of a rollout.
const (
	Deploying Step = "deploy"
	Verifying Step = "verify"
)

type around = func(ctx context.Context, c *Component, step Step, do func(ctx context.Context) error) error

// AroundComponents wraps each step of the rollout of each component, for metrics and traces. around calls do, with ctx
// or a context derived from it, and returns its error. It is called concurrently. If the option is given several times,
// functions of later options run inside those of earlier options.
func AroundComponents(around func(ctx context.Context, c *Component, step Step, do func(ctx context.Context) error) error) Option {
	return func(o *options) { o.around = append(o.around, around) }
}

// through runs a step of a component inside all functions of AroundComponents.
func (o *options) through(ctx context.Context, c *Component, step Step, do func(ctx context.Context) error) error {
	for _, one := range slices.Backward(o.around) {
		inner := do
		do = func(ctx context.Context) error { return one(ctx, c, step, inner) }
	}
	return do(ctx)
}

// StatusPart selects what the status of resources has, see Status.
type StatusPart string

const (
	// NoStatus leaves the status alone. It is for kinds without a status, and for kinds whose status another program
	// writes. Then the version that a resource last reached, and the kinds of its former objects (see Prunes), aren't
	// known.
	NoStatus StatusPart = "none"
	// OnlyReady limits the status to the condition Ready, for kinds whose schema has no other fields, or if nobody
	// reads other fields: a smaller status costs the API server less with each write of a resource. The message of
	// Ready then says what the message of Updating would say: what a resource that isn't ready waits for, and why.
	// While a resource is Ready at its present generation, other errors, such as a request that the cluster refuses,
	// are only logged.
	//
	// As with NoStatus, the version that a resource last reached and the kinds of its former objects aren't known.
	// Fields that an earlier release wrote are removed. A pause is still reported.
	OnlyReady StatusPart = "ready"
	// ServiceStatus adds the field <kind>Status, which parents of the resource read: Completed, InProgress or Failed.
	// The schema of the kind must have the field.
	ServiceStatus StatusPart = "service"
	// DependencyGraph adds the dependency graph as text, in componentStatus.dependencyGraph.
	DependencyGraph StatusPart = "graph"
)

// Status changes the content of the status of resources. Without it the status has the conditions Ready and Updating
// and the states of the components. Several options add up.
func Status(parts ...StatusPart) Option {
	return func(o *options) { o.statusParts = append(o.statusParts, parts...) }
}

func (o *options) has(part StatusPart) bool { return slices.Contains(o.statusParts, part) }

// StartAfter sets how long a rollout runs before the status reports its start; default 500 ms, zero means that the
// start isn't reported. The start of a change of version is always reported immediately.
func StartAfter(d time.Duration) Option { return func(o *options) { o.startAfter = d } }

// VersionField sets the field in which a resource names the version that it wants, as a path of fields; default
// "spec.version". A resource without the field wants no particular version.
func VersionField(path string) Option { return func(o *options) { o.versionField = path } }

// VersionOverride sets the version of every resource, even if its VersionField has another version.
func VersionOverride(version string) Option { return func(o *options) { o.versionOverride = version } }

// SupportedVersions are the versions that the operator offers; the status names them.
func SupportedVersions(versions ...string) Option {
	return func(o *options) { o.supported = append([]string{}, versions...) }
}

// StrictVersions refuses resources that want no version, or a version that isn't among SupportedVersions. It needs the
// option SupportedVersions. Kinds whose name matches one of the patterns of path.Match are exempt; default
// "TemporaryPatch*".
func StrictVersions(exempt ...string) Option {
	return func(o *options) {
		o.strict = true
		if len(exempt) > 0 {
			o.exempt = exempt
		}
	}
}

// OperatorVersion is the version of the operator itself; the status names it.
func OperatorVersion(version string) Option { return func(o *options) { o.operatorVersion = version } }

func newOptions(opts []Option) (options, error) {
	o := options{
		logger: slog.Default(), now: time.Now, concurrency: 8, recheck: time.Minute, period: 10 * time.Minute,
		versionField: "spec.version", exempt: []string{"TemporaryPatch*"}, startAfter: 500 * time.Millisecond,
	}
	optional.Apply(&o, opts)
	switch {
	case slices.ContainsFunc(o.around, func(one around) bool { return one == nil }):
		return o, errors.New("around components: nil function")
	case slices.ContainsFunc(o.revisions, func(one revision) bool { return one == nil }):
		return o, errors.New("revise objects: nil function")
	case slices.ContainsFunc(o.observers, func(one func(*Component, deploy.Results)) bool { return one == nil }):
		return o, errors.New("observe: nil function")
	case o.logger == nil:
		return o, errors.New("nil logger")
	case o.now == nil:
		return o, errors.New("nil clock")
	case o.concurrency < 0:
		return o, fmt.Errorf("concurrency: %d: it can't be negative", o.concurrency)
	case o.recheck < 0:
		return o, fmt.Errorf("recheck: %s: it can't be negative", o.recheck)
	case o.period < 0:
		return o, fmt.Errorf("period: %s: it can't be negative", o.period)
	case o.startAfter < 0:
		return o, fmt.Errorf("start after: %s: it can't be negative", o.startAfter)
	case o.maxAttempts < 0:
		return o, fmt.Errorf("max attempts: %d: it can't be negative", o.maxAttempts)
	}
	if err := o.readiness.Registry.Validate(); err != nil {
		return o, fmt.Errorf("readiness: %w", err)
	}
	return o, errors.Join(o.validateStatus(), o.validateVersions())
}

func (o *options) validateStatus() error {
	for _, part := range o.statusParts {
		if !slices.Contains([]StatusPart{NoStatus, OnlyReady, ServiceStatus, DependencyGraph}, part) {
			return fmt.Errorf("status: unknown part %q", part)
		}
	}
	switch more := o.has(ServiceStatus) || o.has(DependencyGraph); {
	case o.has(NoStatus) && (more || o.has(OnlyReady) || o.ownAnywhere):
		return errors.New("no status: other parts of Status write it, and OwnAnywhere records kinds in it: leave out NoStatus or the others")
	case o.has(OnlyReady) && (more || o.ownAnywhere || o.supported != nil || o.operatorVersion != ""):
		return errors.New("only ready: ServiceStatus, DependencyGraph, SupportedVersions and OperatorVersion write more into the status, " +
			"and OwnAnywhere records kinds in it: leave out OnlyReady or the others")
	}
	return nil
}

func (o *options) validateVersions() error {
	switch {
	case o.versionField == "" || slices.Contains(strings.Split(o.versionField, "."), ""):
		return fmt.Errorf("version field %q: not a path of fields such as spec.version", o.versionField)
	case o.strict && len(o.supported) == 0:
		return errors.New("strict versions: no supported versions: set them by SupportedVersions")
	}
	for _, pattern := range o.exempt {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("strict versions: exempt %q: %w", pattern, err)
		}
	}
	return nil
}
