package operator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/operator/config"
	"github.com/operkit/operkit/operator/internal/cli"
	"github.com/operkit/operkit/operator/internal/webhooks"
	"github.com/operkit/operkit/operator/metrics"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/heartbeat"
	"github.com/operkit/operkit/reconcile/leader"
	"github.com/operkit/operkit/reconcile/manifest"
	"github.com/operkit/operkit/reconcile/peering"
	"github.com/operkit/operkit/reconcile/standing"
	"github.com/operkit/operkit/reconcile/watch"
	"k8s.io/client-go/rest"
)

// runner is the process of the command run against a cluster. Its steps fill in its fields.
type runner struct {
	*process
	election election
	lock     *leader.Elector
	// client is the configuration for the requests of controllers. plain is for requests that aren't measured and that
	// a replica may send without the leadership.
	client, plain *rest.Config
	api           *cluster.Cluster
	health        *health
	services      []service
	// peers may make the process pause. It is nil if it takes no part in peering.
	peers *peering.Peering
	// answers is nil if nothing is answered, and keeper if nothing is kept.
	answers *answering
	keeper  *webhooks.Keeper
}

// run waits until this replica is the leader. Then it watches the cluster and reconciles, until ctx ends or the
// leadership is lost.
func (p *process) run(ctx context.Context) (err error) {
	p.runs, p.metrics = true, metrics.New(p.operator.name, cli.Version(p.Versions.Operator))
	r := &runner{process: p}
	if r.plain, err = p.clientConfig(ctx); err != nil {
		return err
	}
	if r.election, err = election(p.LeaderElection).complete(p.operator.name, p.operator.namespaceFile, p.logger); err != nil {
		return err
	}
	r.health = &health{standby: r.election.global(), comeAndGo: len(p.operator.selected) > 0 || len(p.operator.controllers) == 0, stage: "settings"}
	var started steps
	defer func() { started.stop(false, ending(ctx, err)) }()
	switch err := started.start(ctx, r.health.starting, slices.Concat([]step{{name: "probes", start: r.serve}}, r.startups(ctx), []step{
		{name: "webhooks", start: func(living context.Context) (func(), error) { return r.answer(ctx, living) }},
		{name: "leader election", start: r.elect},
		{name: "peering", start: r.meetPeers},
		{name: "extensions", start: func(context.Context) (func(), error) { return nil, p.extend(ctx) }},
		{name: "manifests", start: r.openManifests},
	}, r.workSteps())...); {
	case err != nil && ctx.Err() != nil:
		p.logger.Info("stopped while it started", "operator", p.operator.name, "error", err)
		return nil
	case err != nil:
		return err
	}
	r.health.starting("")
	p.logger.Info("starting", "operator", p.operator.name, "server", r.client.Host)
	err = r.lock.Run(ctx, func(ctx context.Context) error {
		p.metrics.Leads(true)
		return untilLost(ctx, p.logger, func(ctx context.Context) error { return r.peers.Run(ctx, r.turn(&started)) })
	})
	p.logger.Info("stopped", "operator", p.operator.name)
	return err
}

// workSteps make what works: after a pause they are started again.
func (r *runner) workSteps() []step {
	return []step{
		{name: "cluster", start: r.connect, inTerm: true},
		{name: "what webhooks need", start: r.keeps, inTerm: true},
		{name: "events", start: r.openEvents, inTerm: true},
		{name: "engines", start: r.newServices, inTerm: true},
	}
}

// turn returns the work of this process, which can be called again after a pause: an engine runs only once, and after
// a pause everything is read anew.
func (r *runner) turn(started *steps) func(context.Context) error {
	begun := false
	return func(ctx context.Context) (err error) {
		if begun {
			if err := started.again(ctx, r.health.starting, r.workSteps()...); err != nil {
				return err
			}
			r.health.starting("")
		}
		begun = true
		defer func() {
			started.stop(true, ending(ctx, err))
			if r.peers != nil { // it may be called again, and what was read isn't needed any more
				r.health.rests()
				r.metrics.Renew()
				r.api, r.watcher, r.services, r.keeper = nil, nil, nil, nil
			}
		}()
		return runAll(ctx, r.afterKeeping(r.services))
	}
}

// ending returns why the operator ends, with err or because ctx has ended.
func ending(ctx context.Context, err error) error {
	return cmp.Or(err, context.Cause(ctx), errors.New("the operator is stopping"))
}

// elect makes the Elector that decides when this replica works.
func (r *runner) elect(ctx context.Context) (wait func(), err error) {
	r.lock, wait, err = r.election.newElector(ctx, r.plain, r.logger)
	return wait, err
}

// connect makes the client of the cluster. It doesn't start a watch.
func (r *runner) connect(ctx context.Context) (wait func(), err error) {
	r.client = rest.CopyConfig(r.plain)
	if r.measures() {
		r.client.Wrap(r.metrics.Transport)
	}
	for _, e := range slices.Backward(r.extensions) { // the first wrapper is the innermost
		if e.Transport != nil {
			r.client.Wrap(e.Transport)
		}
	}
	r.client.Wrap(r.lock.Transport)
	r.client.Wrap(r.peers.Transport)
	r.client.Wrap(leader.ObjectTransport)
	n := newNamespaces(r.Watch)
	r.api, err = cluster.New(ctx, r.client, slices.Concat(r.operator.watches, []cluster.Option{cluster.Logger(r.logger)}, n.options())...)
	if err != nil {
		return nil, err
	}
	return r.api.Wait, nil
}

// openManifests opens the directory for rendered manifests, if the setting manifests.directory names one.
func (r *runner) openManifests(context.Context) (wait func(), err error) {
	if r.Manifests.Directory == "" {
		return nil, nil
	}
	var options []manifest.Option
	if r.Manifests.Disabled {
		options = append(options, manifest.Disabled())
	}
	if r.manifests, err = manifest.Open(r.Manifests.Directory, options...); err != nil {
		return nil, fmt.Errorf("manifests.directory: %w", err)
	}
	return func() { _ = r.manifests.Close() }, nil
}

// openEvents starts to write events, unless they are off. When the step stops, it waits until the last events are
// written.
func (r *runner) openEvents(ctx context.Context) (wait func(), err error) {
	if r.Events.Level == config.NoEvents {
		return nil, nil
	}
	recorder := event.NewRecorder(r.api.Port(), r.operator.name, instance(r.operator.name), r.logger)
	if r.events = recorder; r.Events.Level == config.WarningEvents {
		r.events = event.Warnings(recorder)
	}
	r.metrics.Events(recorder.Dropped)
	var running sync.WaitGroup
	running.Go(func() { recorder.Run(ctx) })
	return running.Wait, nil
}

// instance returns the name of this process in events.
func instance(operator string) string {
	if pod := os.Getenv("POD_NAME"); pod != "" {
		return pod
	}
	if host, err := os.Hostname(); err == nil {
		return operator + "-" + host
	}
	return operator
}

// newServices makes the engines: one for the operator's kinds, and one for temporary patches.
func (r *runner) newServices(ctx context.Context) (wait func(), err error) {
	options := r.engineOptions()
	if r.Watch.Workers > 0 {
		options = append(options, watch.Workers(r.Watch.Workers))
	}
	if r.Watch.Filter != "" {
		named, err := filter.Named(r.Watch.Filter, r.operator.domain())
		if err != nil {
			return nil, err
		}
		options = append(options, watch.Filter(named))
	}
	engine, err := watch.New(r.api.View(), options...)
	if err != nil {
		return nil, err
	}
	r.watcher = engine
	r.metrics.Engine(engine)
	manager, err := r.operator.deployManager(r.api)
	if err != nil {
		return nil, err
	}
	all := r.working()
	reconcilers, patches, err := r.newReconcilers(ctx, all, manager)
	if err != nil {
		return nil, err
	}
	for i, c := range all {
		reconciler := reconcilers[i]
		counted, err := standing.Of(reconciler)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c, err)
		}
		if counted != nil {
			r.metrics.Resources(c.kind, counted)
		}
		if err := r.control(engine, c.kind, reconciler, manager); err != nil {
			return nil, fmt.Errorf("%s: %w", c, err)
		}
	}
	patching, err := r.newPatchService(patches, manager)
	if err != nil {
		return nil, err
	}
	work := func(ctx context.Context) error {
		r.health.works(engine)
		return engine.Run(ctx)
	}
	r.services = append(r.driverServices(engine, manager), service{"controllers", work}, service{"temporary patches", func(ctx context.Context) error { return patching.run(ctx, r.health) }})
	return nil, nil
}

// engineOptions are the options of both engines.
func (r *runner) engineOptions() []watch.Option {
	options := []watch.Option{
		watch.Logger(r.logger), watch.Domain(r.operator.domain()), watch.Timeout(r.Watch.Timeout), watch.Grace(r.Watch.Grace),
		watch.Backoff(r.Retry.First, r.Retry.Longest),
	}
	options = append(options, r.givenEngineOptions()...)
	if r.measures() {
		options = append(options, watch.Around(r.metrics.Around))
	}
	for _, e := range r.extensions {
		options = append(options, e.Engine...)
	}
	return options
}

// givenEngineOptions are options of the engine from settings that were given, which override those of the program.
func (r *runner) givenEngineOptions() (options []watch.Option) {
	given := r.settings.Given
	if given("watch.timeout") {
		options = append(options, watch.Timeout(r.Watch.Timeout))
	}
	if given("retry.first") || given("retry.longest") {
		options = append(options, watch.Backoff(r.Retry.First, r.Retry.Longest))
	}
	if given("watch.period") {
		// The engine's period also limits the requeue times that controllers ask for.
		options = append(options, watch.Period(r.Watch.Period))
	}
	return options
}

// serve serves probes, metrics and profiles, and writes the heartbeat.
func (r *runner) serve(ctx context.Context) (wait func(), err error) {
	all, err := r.endpoints()
	if err != nil {
		return nil, err
	}
	serve, err := listen(all, r.operator.inPod(), r.logger)
	if err != nil {
		return nil, err
	}
	var running sync.WaitGroup
	running.Go(func() { serve(ctx) })
	if r.Heartbeat.File != "" {
		running.Go(func() {
			alive := func() error {
				_, err := report(ctx, r.operator.alive, r.logger)
				return errors.Join(r.health.alive(), err)
			}
			err := heartbeat.Run(ctx, r.Heartbeat.File, r.Heartbeat.Period, alive, r.logger)
			if err != nil {
				r.logger.Error("failed to start the heartbeat", "error", err)
			}
		})
	}
	return running.Wait, nil
}

// inPod reports whether the process runs in a Pod, by the file of its service account.
func (o *Operator) inPod() bool {
	_, err := os.Stat(o.namespaceFile)
	return err == nil
}

// service is a part of the operator. run works until its context ends, and then returns nil.
type service struct {
	name string
	run  func(context.Context) error
}

// runAll starts services in order and waits for all. The first error stops the running services, and services that
// haven't been started yet aren't started. runAll returns all errors.
func runAll(ctx context.Context, services []service) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
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
