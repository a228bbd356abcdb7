package operator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/operator/config"
	"github.com/operkit/operkit/operator/internal/cli"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"
)

// Process describes the process of a command to an extension (Extend), a startup (Startup), or a command of your own
// (Command).
type Process struct {
	// Operator is the name of the operator. The operator's options deploy.FieldManager, deploy.KeyDomain and
	// deploy.DefaultNamespace set FieldManager, Domain and DefaultNamespace. Version is the version of the program.
	Operator, FieldManager, Version, Domain, DefaultNamespace string
	// Runs is true for the command run, unless it renders without a cluster (--dry-run).
	Runs bool
	// Logger is the process's logger.
	Logger *slog.Logger
	// Config holds the settings.
	Config config.Config
	// Environment is the environment for a child process that reads the same settings. It has the absolute path of the
	// file with settings, even if a flag has named that file in this process.
	Environment []string
	// Controllers are the operator's controllers of components that the setting controllers enables, in the order in
	// which they were added.
	Controllers []reconcile.Controller
	// Options returns the options for a reconciler of the given controller. The reconciler has to deploy through
	// manager.
	Options func(of reconcile.Controller, manager *deploy.Manager) ([]reconcile.Option, error)
}

// Extension changes or observes what an operator does in one process. The zero value does nothing.
type Extension struct {
	// Each of Controllers replaces the operator's controller of the same kind.
	Controllers []reconcile.Controller
	// Reconciler are options of all reconcilers, such as reconcile.AroundComponents. The options that Control was
	// given, and options from settings, come after them.
	Reconciler []reconcile.Option
	// Engine are options of the engine, such as watch.Around. Only the command run has an engine.
	Engine []watch.Option
	// Transport wraps all requests of the command run to the API server.
	Transport func(http.RoundTripper) http.RoundTripper
	// Collectors are added to the metrics.
	Collectors []prometheus.Collector
	// Close is called when the command has ended, with a context that ends after three seconds.
	Close func(ctx context.Context) error
}

// closing is how long an extension may take to close.
const closing = 3 * time.Second

// Extend extends the process of each command that reconciles or renders: start is called before the controllers are
// used, and returns the Extension. A later extension overrides earlier extensions. If start returns an error, the
// command fails.
func Extend(start func(ctx context.Context, p Process) (Extension, error)) Option {
	return func(o *Operator) { o.extensions = append(o.extensions, start) }
}

// Opener reads the settings of the process for a command.
type Opener func(cmd *cobra.Command) (Process, error)

// Command adds the command that build returns. The command calls open to read the settings. If the command returns an
// error, the program prints it and exits with 1, or with the result of the error's method ExitCode() int.
func Command(build func(open Opener) *cobra.Command) Option {
	return func(o *Operator) { o.commands = append(o.commands, build) }
}

// about describes the process.
func (p *process) about() Process {
	o := p.operator
	about := Process{
		Operator: o.name, FieldManager: o.manager.FieldManager(), Version: cli.Version(p.Versions.Operator), Domain: o.manager.KeyDomain(),
		DefaultNamespace: o.manager.Namespace(),
		Runs:             p.runs, Logger: p.logger, Config: p.Config, Environment: p.settings.Environment(os.Environ()),
		Options: func(of reconcile.Controller, manager *deploy.Manager) ([]reconcile.Option, error) {
			c, err := o.controllerOf(of.Kind())
			if err != nil {
				return nil, err
			}
			patches, err := o.newPatches(manager)
			if err != nil {
				return nil, err
			}
			return append(p.optionsOf(c), patchedBy(patches)...), nil
		},
	}
	for _, c := range p.working() {
		if c.sessions != nil {
			about.Controllers = append(about.Controllers, c.sessions)
		}
	}
	return about
}

// extend starts the extensions once. They are closed when the command has ended.
func (p *process) extend(ctx context.Context) error {
	p.extending.Do(func() {
		for _, start := range p.operator.extensions {
			if p.extendErr = p.startExtension(ctx, start); p.extendErr != nil {
				return
			}
		}
	})
	return p.extendErr
}

func (p *process) startExtension(ctx context.Context, start func(context.Context, Process) (Extension, error)) error {
	if start == nil {
		return errors.New("nil extension: give Extend a function")
	}
	e, err := start(ctx, p.about())
	if e.Close != nil {
		p.operator.atEnd = append(p.operator.atEnd, func() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
			defer cancel()
			if err := e.Close(ctx); err != nil {
				p.logger.Warn("an extension failed to close", "error", err)
			}
		})
	}
	if err != nil {
		return err
	}
	for _, c := range e.Controllers {
		if _, err := p.operator.controllerOf(c.Kind()); err != nil {
			return fmt.Errorf("controller %T of an extension: it can't replace a controller: %w", c, err)
		}
	}
	if p.runs && p.measures() {
		for _, collector := range e.Collectors {
			if err := p.metrics.Collect(collector); err != nil {
				return err
			}
		}
	}
	p.extensions = append(p.extensions, e)
	return nil
}
