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

// defaultOptions are those of every reconciler before what its controller was added with.
func (p *process) defaultOptions() []reconcile.Option {
	return []reconcile.Option{
		reconcile.Logger(p.logger), reconcile.Period(p.Watch.Period), reconcile.Recheck(p.Watch.Recheck),
		reconcile.Concurrency(p.Rollout.Concurrency), reconcile.MaxAttempts(p.Retry.Attempts),
	}
}

// givenOptions are those that somebody asked for, over what a controller was added with.
func (p *process) givenOptions() []reconcile.Option {
	var options []reconcile.Option
	add := func(key string, option reconcile.Option) {
		if p.settings.Given(key) {
			options = append(options, option)
		}
	}
	add("watch.period", reconcile.Period(p.Watch.Period))
	add("watch.recheck", reconcile.Recheck(p.Watch.Recheck))
	add("rollout.concurrency", reconcile.Concurrency(p.Rollout.Concurrency))
	add("retry.attempts", reconcile.MaxAttempts(p.Retry.Attempts))
	if p.manifests != nil {
		options = append(options, reconcile.Observe(p.manifests.Observe))
	}
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
