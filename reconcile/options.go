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
	"github.com/operkit/operkit/status/readiness"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Option sets what is rarely set. Options are applied in order, the last one wins; nil is ignored. New validates them.
type Option func(*options)

type options struct {
	finalizerName string
	watcher       Watcher
	logger        *slog.Logger
	now           func() time.Time
	dryRun        bool
	concurrency   int
	recheck       time.Duration
	period        time.Duration
	observers     []func(*Component, deploy.Results)
	around        []around
	prunes        []schema.GroupVersionKind
	patchers      []Patcher
	assets        Assets
	events        event.Sink
	nameObjects   bool
	oper8Names    bool
	ownAnywhere   bool

	pauseDeletions bool

	versionField, versionOverride, operatorVersion string

	supported, exempt []string
	strict            bool

	statusParts map[StatusPart]bool
	startAfter  time.Duration
	maxAttempts int
	readiness   readiness.Checker
}

// Logger receives what happens. Default: slog.Default.
func Logger(logger *slog.Logger) Option { return func(o *options) { o.logger = logger } }

// Clock sets the source of time; default time.Now.
func Clock(now func() time.Time) Option { return func(o *options) { o.now = now } }

// DryRun takes gates as open and components as ready, and works on one component after the other, so that a whole
// rollout is rendered against a cluster in memory.
func DryRun() Option { return func(o *options) { o.dryRun = true } }

// Concurrency sets how many components of one resource are worked on at once; default 8, 0 works on one after the
// other.
func Concurrency(n int) Option { return func(o *options) { o.concurrency = n } }

// Recheck sets after which time a resource that isn't complete is reconciled again although nothing happened; default 1
// minute, zero means not at all.
func Recheck(after time.Duration) Option { return func(o *options) { o.recheck = after } }

// Period sets after which time a resource that is complete is reconciled again although nothing happened; default 10
// minutes, zero means not at all.
func Period(after time.Duration) Option { return func(o *options) { o.period = after } }

// MaxAttempts has a resource given up after so many failures in a row: its error is permanent then, see
// request.Permanent, and Exhausted is called if the Controller has it. Default 0: never.
func MaxAttempts(n int) Option { return func(o *options) { o.maxAttempts = n } }

// FinalizerName sets the name of the finalizer; default "finalizers.<kind>.<group>" in lower case. It is an error for a
// Controller without Finalize.
func FinalizerName(name string) Option { return func(o *options) { o.finalizerName = name } }

// WithWatcher has objects of the resources watched through watcher.
func WithWatcher(watcher Watcher) Option { return func(o *options) { o.watcher = watcher } }

// WithPatches has the objects of resources changed by the patches of patcher, see package temporarypatch. Of several
// patchers the later ones come last.
func WithPatches(patcher Patcher) Option {
	return func(o *options) { o.patchers = append(o.patchers, patcher) }
}

// WithAssets gives each session the files of its version, see Session.Assets. Several versions are open at once, each
// in sessions of its own.
func WithAssets(assets Assets) Option { return func(o *options) { o.assets = assets } }

// Events records what happens to resources, for people: an event for each component of which objects were created or
// changed, and for objects that were deleted; that a resource has become ready, or was finalized; and failures, each
// until another one takes its place. A resource that is as it should be has none. Dry runs record nothing.
func Events(sink event.Sink) Option { return func(o *options) { o.events = sink } }

// NameObjects has every object carry its internal name, "<component>.<object>", in the annotation
// <domain>/internal-name, by which patches and people find it.
func NameObjects() Option { return func(o *options) { o.nameObjects = true } }

// Oper8Names has ScopedName and TruncatedName cut names as oper8 does, so that an operator that takes over from one
// written with it keeps the objects: after 59 characters, with four digits of the hash, which collide much sooner.
func Oper8Names() Option { return func(o *options) { o.oper8Names = true } }

// Prunes names kinds of which objects are deleted once no component renders them any more. It is needed for two.
// Objects of kinds whose deletion takes data along (deploy.Protected), such as claims, are kept otherwise, with an
// event. And a release of the controller that renders none of a kind of an earlier release names it, for resources
// whose operator ended before it could record the kind in their status. Naming a kind costs a watch of it.
func Prunes(kinds ...schema.GroupVersionKind) Option {
	return func(o *options) { o.prunes = append(o.prunes, kinds...) }
}

// OwnAnywhere lets resources in a namespace have objects in other namespaces and cluster-scoped ones. The cluster
// doesn't collect these with their owner, so they carry its uid in the label <domain>/owner-uid (deploy.OwnedByLabel),
// resources get the finalizer whether or not there is a Finalize, and what carries the label is deleted before that is
// removed. A kind is recorded in the status before the first object of it is applied, at the cost of one more write, so
// that a crash can't lose it.
func OwnAnywhere() Option { return func(o *options) { o.ownAnywhere = true } }

// PauseDeletions has the deletion of a paused resource wait too: it isn't finalized, and keeps the finalizer, until the
// pause ends. It holds only resources that carry the finalizer: neither those of a Controller without Finalize nor
// those that were paused when they were created. Without this option a deletion goes on whatever the pause.
func PauseDeletions() Option { return func(o *options) { o.pauseDeletions = true } }

// ReadyBy sets what decides whether objects are ready that have no Judge of their own (ReadyWhen); default: the table
// of package readiness as it stands. Its Registry is for kinds that the table doesn't know, by functions or by the
// expressions of package celready. Several options add up, field by field and kind by kind; the later ones win. Without
// a WaitsForConsumer the StorageClass of a claim that isn't bound is read from the cluster, and followed, which takes
// the right to get, list and watch storage classes. Without that right such a claim is waited for until it is bound.
func ReadyBy(checker readiness.Checker) Option {
	return func(o *options) { o.readiness = checker.Over(o.readiness) }
}

// ObserveComponents calls observe for each component when its deployment ends, from several goroutines. Several
// observers are called in turn.
func ObserveComponents(observe func(component *Component, results deploy.Results)) Option {
	return func(o *options) { o.observers = append(o.observers, observe) }
}

// Step is one of the rollout of a component.
type Step string

// The steps of a rollout.
const (
	Deploying Step = "deploy"
	Verifying Step = "verify"
)

type around = func(ctx context.Context, c *Component, step Step, do func(ctx context.Context) error) error

// AroundComponents has each step of the rollout of each component go through around, which calls do, with a context of
// its own if it likes, and returns what that returns. It is for measuring and tracing, and is called from several
// goroutines. Of several the later ones are the inner ones.
func AroundComponents(around func(ctx context.Context, c *Component, step Step, do func(ctx context.Context) error) error) Option {
	return func(o *options) { o.around = append(o.around, around) }
}

// through does a step of a component by way of all that is around it.
func (o *options) through(ctx context.Context, c *Component, step Step, do func(ctx context.Context) error) error {
	for _, one := range slices.Backward(o.around) {
		inner := do
		do = func(ctx context.Context) error { return one(ctx, c, step, inner) }
	}
	return do(ctx)
}

// StatusPart is something that the status of resources carries, or doesn't, see Status.
type StatusPart string

const (
	// NoStatus leaves the status alone, for kinds that have none or whose status is another program's. What is decided
	// by the status stays unknown then: the version that a resource was last brought to, and the kinds of objects that
	// it once had (see Prunes).
	NoStatus StatusPart = "none"
	// OnlyReady has the status carry the condition Ready and nothing else, for kinds whose schema has no more, or of
	// which nobody reads more: a smaller status costs an API server less with each write of a resource. The message of
	// Ready says what that of Updating would: what a resource that isn't Ready waits for, and why. While it is Ready at
	// its present generation, what goes wrong beside that, such as a cluster that refuses a request, is in the log
	// alone.
	//
	// What is decided by the rest stays unknown, as with NoStatus; what an earlier release wrote of it is removed. A
	// pause is reported all the same.
	OnlyReady StatusPart = "ready"
	// ServiceStatus adds the field <kind>Status that parents of the resource read: Completed, InProgress or Failed. The
	// schema of the kind has to know it.
	ServiceStatus StatusPart = "service"
	// DependencyGraph adds the dependency graph as text, in componentStatus.dependencyGraph.
	DependencyGraph StatusPart = "graph"
)

// Status sets what the status of resources carries beside or instead of the conditions Ready and Updating and the
// states of the components. Several options add up.
func Status(parts ...StatusPart) Option {
	return func(o *options) {
		for _, part := range parts {
			if o.statusParts == nil {
				o.statusParts = map[StatusPart]bool{}
			}
			o.statusParts[part] = true
		}
	}
}

// StartAfter sets how long a rollout may take before the status reports that it has begun; default 500 ms, zero never
// reports it because of time. A change of version is reported at once in any case.
func StartAfter(d time.Duration) Option { return func(o *options) { o.startAfter = d } }

// VersionField sets where a resource says which version it wants, as a path of fields; default "spec.version". A
// resource without the field wants none in particular.
func VersionField(path string) Option { return func(o *options) { o.versionField = path } }

// VersionOverride has every resource want this version, whatever it says itself.
func VersionOverride(version string) Option { return func(o *options) { o.versionOverride = version } }

// SupportedVersions are the versions that the operator offers; the status names them.
func SupportedVersions(versions ...string) Option {
	return func(o *options) { o.supported = append([]string{}, versions...) }
}

// StrictVersions refuses resources that want no version or one that isn't among SupportedVersions, which must be given
// then. Kinds whose name matches a pattern of path.Match are exempt; default "TemporaryPatch*".
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
	for _, option := range opts {
		if option != nil {
			option(&o)
		}
	}
	switch {
	case slices.ContainsFunc(o.around, func(one around) bool { return one == nil }):
		return o, errors.New("around components: nil function")
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
	for part := range o.statusParts {
		if !slices.Contains([]StatusPart{NoStatus, OnlyReady, ServiceStatus, DependencyGraph}, part) {
			return fmt.Errorf("status: unknown part %q", part)
		}
	}
	switch more := o.statusParts[ServiceStatus] || o.statusParts[DependencyGraph]; {
	case o.statusParts[NoStatus] && (more || o.statusParts[OnlyReady] || o.ownAnywhere):
		return errors.New("no status: other parts of Status write it and OwnAnywhere records kinds in it: leave one out")
	case o.statusParts[OnlyReady] && (more || o.ownAnywhere || o.supported != nil || o.operatorVersion != ""):
		return errors.New("only ready: ServiceStatus, DependencyGraph, SupportedVersions and OperatorVersion write more into the status, " +
			"and OwnAnywhere records kinds in it: leave one out")
	}
	return nil
}

func (o *options) validateVersions() error {
	switch {
	case o.versionField == "" || slices.Contains(strings.Split(o.versionField, "."), ""):
		return fmt.Errorf("version field %q: is no path of fields such as spec.version", o.versionField)
	case o.strict && len(o.supported) == 0:
		return errors.New("strict versions: no version is supported: name them with SupportedVersions")
	}
	for _, pattern := range o.exempt {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("strict versions: exempt %q: %w", pattern, err)
		}
	}
	return nil
}

// setFinalizer decides which finalizer the controller's resources carry: none without a Finalize, for which a name is a
// mistake.
func (o *options) setFinalizer(c Controller) error {
	_, has := c.(Finalizer)
	switch {
	case !has && !o.ownAnywhere && o.finalizerName == "":
		return nil
	case !has && !o.ownAnywhere:
		return fmt.Errorf("controller %T: has the finalizer %q but no Finalize", c, o.finalizerName)
	case o.finalizerName == "":
		o.finalizerName = defaultFinalizer(c.Kind())
	}
	if problems := validation.IsQualifiedName(o.finalizerName); len(problems) > 0 {
		return fmt.Errorf("controller %T: the finalizer %q isn't valid: %s: choose another by FinalizerName",
			c, o.finalizerName, strings.Join(problems, "; "))
	}
	return nil
}
