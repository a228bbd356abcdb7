package operator

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/operator/config"
	"github.com/operkit/operkit/operator/internal/messages"
	"github.com/operkit/operkit/operator/internal/settings"
	"github.com/operkit/operkit/operator/metrics"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/logging"
	"github.com/operkit/operkit/reconcile/manifest"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/operkit/operkit/status/readiness"
	"github.com/operkit/operkit/status/readiness/known"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// process is the process of a command.
type process struct {
	config.Config
	operator *Operator
	settings *settings.Settings
	logger   *slog.Logger
	// runs is true for the command run; only this command has metrics. manifests and events are nil if they are off.
	runs      bool
	manifests *manifest.Directory
	events    event.Sink
	metrics   *metrics.Metrics
	// watcher is the engine of the operator's kinds, or nil if no engine runs.
	watcher source.Watcher

	extending  sync.Once
	extensions []Extension
	extendErr  error
}

// open reads the settings for a command, and logs warnings about them.
func (o *Operator) open(s *settings.Settings, log io.Writer) (*process, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	c, err := s.Load(os.Environ())
	if err != nil {
		return nil, err
	}
	p := &process{Config: c, operator: o, settings: s, logger: newLogger(log, c.Log)}
	for _, warning := range s.Warnings() {
		p.logger.Warn("check the settings", "warning", warning)
	}
	return p, nil
}

// newLogger returns a logger for the settings, which have to be valid. Its warnings and errors have a link to the
// guide.
func newLogger(out io.Writer, c config.Log) *slog.Logger {
	everything := &slog.HandlerOptions{Level: slog.Level(math.MinInt)}
	var handler slog.Handler = slog.NewTextHandler(out, everything)
	if c.Format == "json" {
		handler = slog.NewJSONHandler(out, everything)
	}
	level, _ := logging.ParseLevel(c.Level)
	filters, _ := logging.ParseFilters(strings.Join(c.Filters, ","))
	return slog.New(logging.NewHandler(messages.NewHandler(handler), level, filters))
}

// clientConfig returns the configuration of the client for the API server.
func (p *process) clientConfig(ctx context.Context) (*rest.Config, error) {
	client, err := p.operator.login(ctx, p.Config)
	if err != nil {
		logPanic(p.logger, err)
		return nil, err
	}
	client.UserAgent = p.operator.name
	client.WarningHandlerWithContext = rest.NoWarnings{}
	client.QPS, client.Burst = float32(p.KubeAPI.QPS), cmp.Or(p.KubeAPI.Burst, max(1, int(2*p.KubeAPI.QPS)))
	return client, nil
}

// working returns the controllers that the setting controllers enables: all controllers if the setting is empty.
func (p *process) working() []controller {
	return slices.DeleteFunc(slices.Clone(p.operator.controllers), func(c controller) bool {
		return len(p.Controllers) > 0 && !slices.Contains(p.Controllers, c.kind.Kind)
	})
}

// controllerOf returns the controller of components of a kind.
func (o *Operator) controllerOf(kind schema.GroupVersionKind) (controller, error) {
	at := slices.IndexFunc(o.controllers, func(c controller) bool { return c.sessions != nil && c.kind == kind })
	if at < 0 {
		return controller{}, fmt.Errorf("the operator has no controller of the kind %s", kind.Kind)
	}
	return o.controllers[at], nil
}

// reconciler returns a reconciler for a kind. The reconciler deploys through manager. The options in more come after
// all others.
func (p *process) reconciler(
	ctx context.Context, kind schema.GroupVersionKind, manager *deploy.Manager, more ...reconcile.Option,
) (*reconcile.Reconciler, error) {
	c, err := p.operator.controllerOf(kind)
	if err != nil {
		return nil, err
	}
	if err := p.extend(ctx); err != nil {
		return nil, err
	}
	works := c.sessions
	for _, e := range p.extensions {
		for _, other := range e.Controllers {
			if other.Kind() == kind {
				works = other
			}
		}
	}
	return reconcile.New(works, manager, append(p.optionsOf(c), more...)...)
}

// optionsOf returns the options of a controller's reconciler: first the defaults, then the options of extensions, of
// the controller, and of settings.
func (p *process) optionsOf(c controller) []reconcile.Option {
	return slices.Concat(p.defaultOptions(), c.options, p.givenOptions())
}

// numbers returns the options that take a number or a duration from a setting, by the key of the setting.
func (p *process) numbers() map[string]reconcile.Option {
	return map[string]reconcile.Option{
		"watch.period": reconcile.Period(p.Watch.Period), "watch.recheck": reconcile.Recheck(p.Watch.Recheck),
		"rollout.concurrency": reconcile.Concurrency(p.Rollout.Concurrency), "retry.attempts": reconcile.MaxAttempts(p.Retry.Attempts),
	}
}

// judged returns how objects are judged that the program has no rule for.
func judged() readiness.Checker { return readiness.Checker{Registry: known.Kinds()} }

// defaultOptions come before the options of a controller.
func (p *process) defaultOptions() []reconcile.Option {
	options := []reconcile.Option{
		reconcile.Logger(p.logger), reconcile.ReadyBy(judged()),
	}
	if p.watcher != nil {
		options = append(options, reconcile.WithWatcher(p.watcher))
	}
	for _, e := range p.extensions {
		options = append(options, e.Reconciler...)
	}
	return slices.AppendSeq(options, maps.Values(p.numbers()))
}

// givenOptions override the options of a controller.
func (p *process) givenOptions() (options []reconcile.Option) {
	add := func(given bool, option func() reconcile.Option) {
		if given {
			options = append(options, option())
		}
	}
	for key, option := range p.numbers() {
		add(p.settings.Given(key), func() reconcile.Option { return option })
	}
	add(p.manifests != nil, func() reconcile.Option { return reconcile.ObserveComponents(p.manifests.Observe) })
	add(p.events != nil, func() reconcile.Option { return reconcile.Events(p.events) })
	add(!p.Status.Manage, func() reconcile.Option { return reconcile.Status(reconcile.NoStatus) })
	add(p.Status.Graph, func() reconcile.Option { return reconcile.Status(reconcile.DependencyGraph) })
	add(p.Status.Service, func() reconcile.Option { return reconcile.Status(reconcile.ServiceStatus) })
	add(p.Objects.InternalNames, reconcile.NameObjects)
	add(len(p.Versions.Supported) > 0, func() reconcile.Option { return reconcile.SupportedVersions(p.Versions.Supported...) })
	add(p.Versions.Strict, func() reconcile.Option { return reconcile.StrictVersions(p.Versions.Exempt...) })
	add(p.Versions.Operator != "", func() reconcile.Option { return reconcile.OperatorVersion(p.Versions.Operator) })
	return options
}
