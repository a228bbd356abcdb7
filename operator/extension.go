package operator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"slices"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/operator/config"
	"github.com/operkit/operkit/reconcile"
	"github.com/prometheus/client_golang/prometheus"
)

// Process is what those are told of a process who see it (Instrument) or change what it does (Extend, Command).
type Process struct {
	// Operator is the name of the operator, FieldManager that under which it owns what it applies, Version that of the program,
	// Domain that of annotations, DefaultNamespace what DefaultNamespace has set.
	Operator, FieldManager, Version, Domain, DefaultNamespace string
	// Logger is the process's.
	Logger *slog.Logger
	// Config are the settings.
	Config config.Config
	// Environment is the process's, in which the file with settings is named by its whole path, also if a flag has named it: for
	// processes that are to read it, too.
	Environment []string
	// Controllers are those of the operator, as they were added.
	Controllers []reconcile.Controller
	// Options are those of the reconciler of one of the controllers, whose objects manager deploys.
	Options func(of reconcile.Controller, manager *deploy.Manager) ([]reconcile.Option, error)
}

// Extension changes what the controllers of an operator are in one process. The zero value changes nothing.
type Extension struct {
	// Controllers take the place of the operator's own ones of their kinds.
	Controllers []reconcile.Controller
	// Reconciler are options of every controller's reconciler. What somebody asks for by a setting comes after them.
	Reconciler []reconcile.Option
	// Collectors are on the page of metrics, too.
	Collectors []prometheus.Collector
	// Close is called when the process ends; nil for nothing.
	Close func()
}

// Extend has start change what the controllers are in the process of a command that reconciles or renders, before any of them is used. Of
// several the later ones come last. An error ends the command.
func Extend(start func(ctx context.Context, p Process) (Extension, error)) Option {
	return func(o *Operator) { o.extensions = append(o.extensions, start) }
}

// about is what others are told of a process.
func (o *Operator) about(p *process) Process {
	info, _ := debug.ReadBuildInfo()
	about := Process{
		Operator: o.name, FieldManager: o.manager, Version: newBuild(o.name, p.Versions.Operator, info).Version, Domain: o.domain, DefaultNamespace: o.namespace,
		Logger: p.logger, Config: p.Config, Environment: p.settings.Environment(os.Environ()),
		Options: func(of reconcile.Controller, manager *deploy.Manager) ([]reconcile.Option, error) {
			c, known := o.controllerOf(of.Kind())
			if !known {
				return nil, fmt.Errorf("the operator has no controller of the kind %s", of.Kind().Kind)
			}
			patches, err := o.newPatches(manager, p.logger)
			if err != nil {
				return nil, err
			}
			return patchedBy(patches, p.optionsOf(c)), nil
		},
	}
	for _, c := range o.working(p.Config) {
		about.Controllers = append(about.Controllers, c.Controller)
	}
	return about
}

// extend starts the extensions, once. They are closed when the command has ended.
func (o *Operator) extend(ctx context.Context, p *process) error {
	if p.extended {
		return nil
	}
	p.extended = true
	for _, start := range o.extensions {
		if start == nil {
			return errors.New("extend: is nil")
		}
		one, err := start(ctx, o.about(p))
		if one.Close != nil {
			o.atEnd = append(o.atEnd, one.Close)
		}
		if err != nil {
			return err
		}
		for _, c := range one.Controllers {
			if _, known := o.controllerOf(c.Kind()); !known {
				return fmt.Errorf("controller %T: takes the place of none: the operator has no controller of the kind %s", c, c.Kind().Kind)
			}
		}
		for _, collector := range one.Collectors {
			if err := p.metrics.Collect(collector); err != nil {
				return err
			}
		}
		p.extensions = append(p.extensions, one)
	}
	return nil
}

// inPlaceOf is the controller that works for one of the operator's own.
func (p *process) inPlaceOf(c controller) reconcile.Controller {
	for _, one := range slices.Backward(p.extensions) {
		for _, other := range one.Controllers {
			if other.Kind() == c.Kind() {
				return other
			}
		}
	}
	return c.Controller
}

// extending are the options of reconcilers by extensions.
func (p *process) extending() (options []reconcile.Option) {
	for _, one := range p.extensions {
		options = append(options, one.Reconciler...)
	}
	return options
}
