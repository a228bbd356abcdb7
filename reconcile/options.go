package reconcile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/status/readiness"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Option sets what is rarely set.
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
	serviceStatus     bool
	withoutStatus     bool
	onlyReady         bool
	graphInStatus     bool
	startAfter        time.Duration
	maxAttempts       int
	readiness         readiness.Checker
}

// WithPatches has the objects of resources changed by the patches that patcher knows of, see package
// temporarypatch. Of several patchers the later ones come last.
func WithPatches(patcher Patcher) Option {
	return func(o *options) { o.patchers = append(o.patchers, patcher) }
}

// StartAfter sets how long a rollout may take before the status says that it has begun (spec: reconcile 48);
// default 500 ms, zero never says it because of time. A change of version is told at once in any case.
func StartAfter(d time.Duration) Option { return func(o *options) { o.startAfter = d } }

// NameObjects has every object carry its internal name, "<component>.<object>", in the annotation
// <domain>/internal-name, by which patches and people find it (spec: reconcile 13).
func NameObjects() Option { return func(o *options) { o.nameObjects = true } }

// ServiceStatus has the status carry the field <kind>Status that parents of the resource read:
// Completed, InProgress or Failed (spec: reconcile 52). The schema of the kind has to know it.
func ServiceStatus() Option { return func(o *options) { o.serviceStatus = true } }

// GraphInStatus has the status carry the dependency graph as text, in componentStatus.dependencyGraph (spec:
// reconcile 49).
func GraphInStatus() Option { return func(o *options) { o.graphInStatus = true } }

// WithoutStatus leaves the status of resources alone, for kinds that have none or whose status is another
// program's (spec: reconcile 44). What is decided by the status stays unknown then: the version that a
// resource was last brought to, and the kinds of objects that it once had (see Prunes).
func WithoutStatus() Option { return func(o *options) { o.withoutStatus = true } }

// MaxAttempts has a resource given up after so many failures in a row: its error is permanent then, see
// request.Permanent, and a Controller that is an Exhauster is told. Default 0: never.
func MaxAttempts(n int) Option { return func(o *options) { o.maxAttempts = n } }

// FinalizerName sets the name of the finalizer; default "finalizers.<kind>.<group>" in
// lower case (spec: reconcile 20). It is an error for a controller without Finalize.
func FinalizerName(name string) Option { return func(o *options) { o.finalizerName = name } }

// WithWatcher has objects of the resources watched through watcher.
func WithWatcher(watcher Watcher) Option { return func(o *options) { o.watcher = watcher } }

// Logger receives what happens. Default: slog.Default.
func Logger(logger *slog.Logger) Option { return func(o *options) { o.logger = logger } }

// Clock sets the source of time; default time.Now.
func Clock(now func() time.Time) Option { return func(o *options) { o.now = now } }

// DryRun takes gates as open and components as ready, one component after the other, so
// that a whole rollout is rendered against a cluster in memory.
func DryRun() Option { return func(o *options) { o.dryRun, o.concurrency = true, 0 } }

// Concurrency sets how many components of one resource are worked on at once; default 8,
// 0 works on one after the other.
func Concurrency(n int) Option { return func(o *options) { o.concurrency = n } }

// Recheck sets after which time a resource that isn't complete is reconciled again although
// nothing happened; default 1 minute, zero means not at all.
func Recheck(after time.Duration) Option { return func(o *options) { o.recheck = after } }

// Period sets after which time a resource that is complete is reconciled again although
// nothing happened; default 10 minutes, zero means not at all.
func Period(after time.Duration) Option { return func(o *options) { o.period = after } }

// ReadyBy sets what decides whether objects are ready for which no Judge is given (ReadyWhen); default: the table of
// package readiness as it stands. Its Registry is for kinds that the table doesn't know, by functions or by the
// expressions of package celready. Several options add up, field by field and kind by kind; the later ones win. Without
// a WaitsForConsumer the StorageClass of a claim that isn't bound is read from the cluster, and followed, which takes
// the right to get, list and watch storage classes. Without that right such a claim is waited for until it is bound.
func ReadyBy(checker readiness.Checker) Option {
	return func(o *options) { o.readiness = checker.Over(o.readiness) }
}

// Observe is told of each component's deployment as it ends, from several goroutines. Several observers are
// told in turn.
func Observe(observe func(component *Component, results deploy.Results)) Option {
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

// AroundComponents has each step of the rollout of each component go through around, which calls do, with a context of its own if it likes,
// and returns what that returns. It is for measuring and tracing, and is called from several goroutines. Of several the later ones are the
// inner ones.
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

func newOptions(opts []Option) (options, error) {
	o := options{
		logger: slog.Default(), now: time.Now, concurrency: 8, recheck: time.Minute, period: 10 * time.Minute,
		versionField: "spec.version", exempt: []string{"TemporaryPatch*"}, startAfter: startAfter,
	}
	for _, option := range opts {
		option(&o)
	}
	switch {
	case slices.ContainsFunc(o.around, func(one around) bool { return one == nil }):
		return o, errors.New("around components: is nil")
	case o.logger == nil:
		return o, errors.New("logger: is nil")
	case o.now == nil:
		return o, errors.New("clock: is nil")
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
	case o.withoutStatus && (o.serviceStatus || o.ownAnywhere):
		return o, errors.New("without status: ServiceStatus writes it and OwnAnywhere remembers in it: leave one of them out")
	case o.onlyReady && (o.withoutStatus || o.writesMore()):
		return o, errors.New("only ready: ServiceStatus, GraphInStatus, SupportedVersions and OperatorVersion write more into the status, " +
			"OwnAnywhere remembers in it, and WithoutStatus writes none: leave one out")
	}
	if err := o.readiness.Registry.Validate(); err != nil {
		return o, fmt.Errorf("readiness: %w", err)
	}
	return o, o.validateVersions()
}

// setFinalizer settles which finalizer the controller's resources carry: none without a
// Finalize, which a name asked for would never get (spec: reconcile 20, mistake 15).
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
