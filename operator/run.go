package operator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/watch"
	"k8s.io/client-go/rest"
)

// run watches the cluster and reconciles until ctx ends.
func (o *Operator) run(ctx context.Context, logger *slog.Logger, flags runFlags) error {
	config, err := cluster.Config(flags.kubeconfig, flags.context)
	if err != nil {
		return err
	}
	config.UserAgent = o.name
	config.WarningHandlerWithContext = rest.NoWarnings{}
	// The store outlives ctx by as long as running reconciles need it.
	storeContext, closeStore := context.WithCancel(context.WithoutCancel(ctx))
	defer closeStore()
	api, err := cluster.New(storeContext, config, cluster.Namespaces(flags.namespaces...), cluster.Logger(logger))
	if err != nil {
		return err
	}
	engine, err := watch.New(api.View(), watch.Workers(flags.workers), watch.Logger(logger))
	if err != nil {
		return err
	}
	manager := deploy.NewManager(api, o.managerOptions()...)
	patches, err := o.newPatches(manager, logger)
	if err != nil {
		return err
	}
	for _, c := range o.controllers {
		options := append([]reconcile.Option{reconcile.Logger(logger), reconcile.WithWatcher(engine)}, c.options...)
		reconciler, err := reconcile.New(c.Controller, manager, patchedBy(patches, options)...)
		if err != nil {
			return err
		}
		if err := engine.Control(reconciler.Kind(), reconciler); err != nil {
			return fmt.Errorf("controller %T: %w", c.Controller, err)
		}
	}
	patching, err := o.newPatchService(patches, manager, config, logger, flags.namespaces)
	if err != nil {
		return err
	}
	logger.Info("starting", "operator", o.name, "server", config.Host)
	err = runAll(ctx, engine.Run, patching.run)
	closeStore()
	api.Wait()
	logger.Info("stopped", "operator", o.name)
	return err
}

// runAll runs engines until all have ended. One that fails ends the others.
func runAll(ctx context.Context, engines ...func(context.Context) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	errs := make([]error, len(engines))
	var running sync.WaitGroup
	for i, engine := range engines {
		running.Go(func() {
			if errs[i] = engine(ctx); errs[i] != nil {
				stop()
			}
		})
	}
	running.Wait()
	return errors.Join(errs...)
}
