package operator

import (
	"slices"

	"github.com/operkit/operkit/operator/config"
	"github.com/operkit/operkit/reconcile"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// controlledKinds are those of the controllers.
func (o *Operator) controlledKinds() []schema.GroupVersionKind {
	var kinds []schema.GroupVersionKind
	for _, c := range o.controllers {
		kinds = append(kinds, c.Kind())
	}
	return kinds
}

// working are the controllers that work (spec: operator 2).
func (o *Operator) working(c config.Config) []controller {
	if len(c.Controllers) == 0 {
		return o.controllers
	}
	var working []controller
	for _, one := range o.controllers {
		if slices.Contains(c.Controllers, one.Kind().Kind) {
			working = append(working, one)
		}
	}
	return working
}

// optionsOf are those of a controller's reconciler, with more that hold whatever was said.
func (p *process) optionsOf(c controller, more ...reconcile.Option) []reconcile.Option {
	return slices.Concat(p.defaultOptions(), c.options, p.givenOptions(), more)
}

// measure is an option of a reconciler that a setting has the number for.
type measure struct {
	key    string
	option reconcile.Option
}

func (p *process) measures() []measure {
	return []measure{
		{"watch.period", reconcile.Period(p.Watch.Period)}, {"watch.recheck", reconcile.Recheck(p.Watch.Recheck)},
		{"rollout.concurrency", reconcile.Concurrency(p.Rollout.Concurrency)}, {"retry.attempts", reconcile.MaxAttempts(p.Retry.Attempts)},
	}
}

// defaultOptions are those of every reconciler before what its controller was added with.
func (p *process) defaultOptions() []reconcile.Option {
	options := append([]reconcile.Option{reconcile.Logger(p.logger)}, p.extending()...)
	for _, one := range p.measures() {
		options = append(options, one.option)
	}
	return options
}

// givenOptions are those that somebody asked for, over what a controller was added with.
func (p *process) givenOptions() []reconcile.Option {
	var options []reconcile.Option
	for _, one := range p.measures() {
		if p.settings.Given(one.key) {
			options = append(options, one.option)
		}
	}
	if p.manifests != nil {
		options = append(options, reconcile.Observe(p.manifests.Observe))
	}
	options = append(options, p.observing()...)
	if !p.Status.Manage {
		options = append(options, reconcile.WithoutStatus())
	}
	if p.Status.Graph {
		options = append(options, reconcile.GraphInStatus())
	}
	if p.Status.Service {
		options = append(options, reconcile.ServiceStatus())
	}
	if p.Objects.InternalNames {
		options = append(options, reconcile.NameObjects())
	}
	if len(p.Versions.Supported) > 0 {
		options = append(options, reconcile.SupportedVersions(p.Versions.Supported...))
	}
	if p.Versions.Strict {
		options = append(options, reconcile.StrictVersions(p.Versions.Exempt...))
	}
	if p.Versions.Operator != "" {
		options = append(options, reconcile.OperatorVersion(p.Versions.Operator))
	}
	return options
}
