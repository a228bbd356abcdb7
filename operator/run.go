package operator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/leader"
	"github.com/operkit/operkit/reconcile/watch"
	"k8s.io/client-go/rest"
)

// run waits until this replica leads, watches the cluster and reconciles until ctx ends or the leadership is lost
// (spec: watch 7, 8).
func (o *Operator) run(ctx context.Context, logger *slog.Logger, flags runFlags) error {
	config, err := cluster.Config(flags.kubeconfig, flags.context)
	if err != nil {
		return err
	}
	config.UserAgent = o.name
	config.WarningHandlerWithContext = rest.NoWarnings{}
	flags.limits.set(config)
	election, err := flags.election.settle(o.name, o.namespaceFile, logger)
	if err != nil {
		return err
	}
	// What talks to the cluster outlives ctx by as long as running reconciles need it.
	background, closeStore := context.WithCancel(context.WithoutCancel(ctx))
	defer closeStore()
	lock, closeLock, err := election.newElector(background, config, logger)
	if err != nil {
		return err
	}
	defer closeLock()
	config.Wrap(lock.Transport)
	config.Wrap(leader.ObjectTransport)
	api, err := cluster.New(background, config, o.clusterOptions(logger, flags)...)
	if err != nil {
		return err
	}
	services, err := o.services(api, config, logger, flags, election)
	if err != nil {
		return err
	}
	logger.Info("starting", "operator", o.name, "server", config.Host)
	err = lock.Run(ctx, func(ctx context.Context) error {
		return untilLost(ctx, logger, func(ctx context.Context) error {
			err := runAll(ctx, services)
			// Watches end before the leadership is given back.
			closeStore()
			api.Wait()
			return err
		})
	})
	logger.Info("stopped", "operator", o.name)
	return err
}

// services are the engines of the operator: one for its kinds, and one for temporary patches.
func (o *Operator) services(api *cluster.Cluster, config *rest.Config, logger *slog.Logger, flags runFlags, election LeaderElection) ([]service, error) {
	options := o.engineOptions(logger, flags)
	if flags.workers > 0 {
		options = append(options, watch.Workers(flags.workers))
	}
	engine, err := watch.New(api.View(), options...)
	if err != nil {
		return nil, err
	}
	manager := deploy.NewManager(api, o.managerOptions()...)
	patches, err := o.newPatches(manager, logger)
	if err != nil {
		return nil, err
	}
	for _, c := range o.controllers {
		options := append(reconcilerOptions(engine, logger, flags), c.options...)
		reconciler, err := reconcile.New(c.Controller, manager, patchedBy(patches, options)...)
		if err != nil {
			return nil, err
		}
		filtered, err := o.filteredBy(flags.filter, reconciler)
		if err != nil {
			return nil, err
		}
		if err := o.control(engine, reconciler.Kind(), filtered, manager, logger, election); err != nil {
			return nil, fmt.Errorf("controller %T: %w", c.Controller, err)
		}
	}
	patching, err := o.newPatchService(patches, manager, config, logger, flags, election)
	if err != nil {
		return nil, err
	}
	return []service{{"controllers", engine.Run}, {"temporary patches", patching.run}}, nil
}

// clusterOptions say what is watched.
func (o *Operator) clusterOptions(logger *slog.Logger, flags runFlags) []cluster.Option {
	return append(append(slices.Clone(o.watches), cluster.Logger(logger)), flags.namespaces.options()...)
}

// engineOptions are those of every engine of the operator.
func (o *Operator) engineOptions(logger *slog.Logger, flags runFlags) []watch.Option {
	return []watch.Option{watch.Logger(logger), watch.Domain(o.domain), watch.CancelOn(lostOf), watch.Period(flags.period)}
}

// reconcilerOptions are those of every reconciler of the operator.
func reconcilerOptions(engine *watch.Engine, logger *slog.Logger, flags runFlags) []reconcile.Option {
	options := []reconcile.Option{reconcile.Logger(logger), reconcile.WithWatcher(engine)}
	if flags.periodic {
		options = append(options, reconcile.Period(flags.period))
	}
	return options
}

// service is one thing that an operator does all the time. run returns nil when its context ends.
type service struct {
	name string
	run  func(context.Context) error
}

// runAll runs services until all have ended. They are started in the order of their names; when one fails the others
// are ended, and those that haven't started aren't any more (spec: watch 2).
func runAll(ctx context.Context, services []service) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	services = slices.SortedFunc(slices.Values(services), func(a, b service) int { return cmp.Compare(a.name, b.name) })
	errs := make([]error, len(services))
	var running sync.WaitGroup
	for i, s := range services {
		if ctx.Err() != nil {
			break
		}
		running.Go(func() {
			if err := s.run(ctx); err != nil {
				errs[i] = fmt.Errorf("%s: %w", s.name, err)
				stop()
			}
		})
	}
	running.Wait()
	return errors.Join(errs...)
}
