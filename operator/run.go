package operator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/heartbeat"
	"github.com/operkit/operkit/reconcile/leader"
	"github.com/operkit/operkit/reconcile/watch"
	"k8s.io/client-go/rest"
)

// run waits until this replica leads, watches the cluster and reconciles until ctx ends or the leadership is lost
// (spec: watch 7, 8).
func (o *Operator) run(ctx context.Context, p *process) error {
	client, err := o.clientConfig(p)
	if err != nil {
		return err
	}
	e, err := election(p.LeaderElection).settle(o.name, o.namespaceFile, p.logger)
	if err != nil {
		return err
	}
	// What talks to the cluster outlives ctx by as long as running reconciles need it.
	background, closeStore := context.WithCancel(context.WithoutCancel(ctx))
	defer closeStore()
	lock, closeLock, err := e.newElector(background, client, p.logger)
	if err != nil {
		return err
	}
	defer closeLock()
	plain := rest.CopyConfig(client)
	stopInstruments, err := o.instrument(ctx, p)
	if err != nil {
		return err
	}
	defer stopInstruments()
	if p.metrics = o.newMetrics(p); p.metrics != nil {
		client.Wrap(p.metrics.Transport)
	}
	p.wrap(client)
	client.Wrap(lock.Transport)
	client.Wrap(leader.ObjectTransport)
	api, err := cluster.New(background, client, o.clusterOptions(p)...)
	if err != nil {
		return err
	}
	if err := p.openManifests(); err != nil {
		return err
	}
	defer p.closeManifests()
	closeEvents := o.openEvents(background, p, api.Port())
	defer closeEvents()
	h := &health{standby: e.global()}
	if err := o.extend(ctx, p); err != nil {
		return err
	}
	services, err := o.services(api, client, p, e, h)
	if err != nil {
		return err
	}
	told, err := o.tell(background, p, h, plain)
	if err != nil {
		return err
	}
	defer told()
	p.logger.Info("starting", "operator", o.name, "server", client.Host)
	err = lock.Run(ctx, func(ctx context.Context) error {
		p.metrics.Leads(true)
		return untilLost(ctx, p.logger, func(ctx context.Context) error {
			err := runAll(ctx, services)
			// Events and watches end before the leadership is given back.
			closeEvents()
			closeStore()
			api.Wait()
			return err
		})
	})
	p.logger.Info("stopped", "operator", o.name)
	return err
}

// clientConfig is how the API server is asked.
func (o *Operator) clientConfig(p *process) (*rest.Config, error) {
	client, err := cluster.Config(p.Kubeconfig, p.Context)
	if err != nil {
		return nil, err
	}
	client.UserAgent = o.name
	client.WarningHandlerWithContext = rest.NoWarnings{}
	client.QPS, client.Burst = float32(p.KubeAPI.QPS), p.KubeAPI.Burst
	if client.Burst == 0 {
		client.Burst = max(1, int(2*p.KubeAPI.QPS))
	}
	return client, nil
}

// inPod tells whether the process runs in one, by what a service account is given there.
func (o *Operator) inPod() bool {
	_, err := os.Stat(o.namespaceFile)
	return err == nil
}

// tell has probes know how the process is, by HTTP and by a file, until the returned function is called.
func (o *Operator) tell(ctx context.Context, p *process, h *health, client *rest.Config) (stop func(), err error) {
	all, err := endpoints(p, h, client)
	if err != nil {
		return nil, err
	}
	serve, err := listen(all, o.inPod(), p.logger)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { serve(ctx) })
	if p.Heartbeat.File != "" {
		running.Go(func() {
			err := heartbeat.Run(ctx, p.Heartbeat.File, h.alive, heartbeat.Period(p.Heartbeat.Period), heartbeat.Logger(p.logger))
			if err != nil {
				p.logger.Error("no heartbeat", "error", err)
			}
		})
	}
	return func() {
		cancel()
		running.Wait()
	}, nil
}

// services are the engines of the operator: one for its kinds, and one for temporary patches.
func (o *Operator) services(api *cluster.Cluster, client *rest.Config, p *process, e election, h *health) ([]service, error) {
	options := o.engineOptions(p)
	if p.Watch.Workers > 0 {
		options = append(options, watch.Workers(p.Watch.Workers))
	}
	engine, err := watch.New(api.View(), options...)
	if err != nil {
		return nil, err
	}
	p.metrics.Engine(engine)
	manager := deploy.NewManager(api, o.managerOptions()...)
	patches, err := o.newPatches(manager, p.logger)
	if err != nil {
		return nil, err
	}
	for _, c := range o.working(p.Config) {
		options := slices.Concat(p.defaultOptions(), []reconcile.Option{reconcile.WithWatcher(engine)}, c.options, p.givenOptions())
		reconciler, err := reconcile.New(p.inPlaceOf(c), manager, patchedBy(patches, options)...)
		if err != nil {
			return nil, err
		}
		p.metrics.Reconciler(reconciler)
		filtered, err := o.filteredBy(p.Watch.Filter, reconciler)
		if err != nil {
			return nil, err
		}
		if err := o.control(engine, reconciler.Kind(), filtered, manager, p.logger, e); err != nil {
			return nil, fmt.Errorf("controller %T: %w", c.Controller, err)
		}
	}
	patching, err := o.newPatchService(patches, manager, client, p, e)
	if err != nil {
		return nil, err
	}
	work := func(ctx context.Context) error {
		h.works(engine)
		return engine.Run(ctx)
	}
	return []service{{"controllers", work}, {"temporary patches", func(ctx context.Context) error { return patching.run(ctx, h) }}}, nil
}

// clusterOptions say what is watched.
func (o *Operator) clusterOptions(p *process) []cluster.Option {
	n := newNamespaces(p.Watch)
	return append(append(slices.Clone(o.watches), cluster.Logger(p.logger)), n.options()...)
}

// engineOptions are those of every engine of the operator.
func (o *Operator) engineOptions(p *process) []watch.Option {
	options := []watch.Option{
		watch.Logger(p.logger), watch.Domain(o.domain), watch.CancelOn(lostOf), watch.Timeout(p.Watch.Timeout), watch.Grace(p.Watch.Grace),
		watch.Backoff(p.Retry.First, p.Retry.Longest),
	}
	if p.settings.Given("watch.period") {
		// It comes sooner than what a controller asks for.
		options = append(options, watch.Period(p.Watch.Period))
	}
	if p.metrics != nil {
		options = append(options, watch.Around(p.metrics.Around))
	}
	for _, one := range p.instruments {
		options = append(options, one.Engine...)
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
