package reconcile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/operkit/operkit/dag"
	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/logging"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// lookAgain is when a resource is reconciled again that somebody else has just written, and
	// quietAttempts how often in a row that is no failure.
	lookAgain     = 50 * time.Millisecond
	quietAttempts = 3
	// lastWord is how long a reconcile that took too long may take to say so in the status.
	lastWord = 10 * time.Second
	// recreateWait is how long an object that is made anew may take to go before that is left to a later reconcile.
	recreateWait = 500 * time.Millisecond
	// gateInterval is how often a closed gate is asked again while other components are worked on; their ends
	// have it asked too (spec: reconcile mistake 21).
	gateInterval = 500 * time.Millisecond
)

// Reconciler reconciles the resources of one Controller. It is safe for concurrent use.
type Reconciler struct {
	controller Controller
	finalizer  Finalizer
	manager    *deploy.Manager
	options    options
	schema     pruned
	// attempts counts the failures in a row, for MaxAttempts; furthest is how many objects were as they should be after one.
	attempts, furthest perSpec
	pauses             pauses
	tallied            tallied
	unwritten          unwritten
	classesUnread      sync.Once
	remade             remade
	regrown            regrown
	sources            source.Sources
	// defaults of resources, and of their configuration.
	defaults, configDefaults map[string]any
}

// New returns a Reconciler for the resources of controller.
func New(controller Controller, manager *deploy.Manager, opts ...Option) (*Reconciler, error) {
	if err := checkController(controller); err != nil {
		return nil, err
	}
	if manager == nil {
		return nil, fmt.Errorf("controller %T: its manager is nil", controller)
	}
	o, err := newOptions(opts)
	if err != nil {
		return nil, err
	}
	if err := o.setFinalizer(controller); err != nil {
		return nil, err
	}
	r := &Reconciler{controller: controller, options: o}
	if r.sources, err = source.Of(controller); err != nil {
		return nil, fmt.Errorf("controller %w", err)
	}
	r.finalizer, _ = controller.(Finalizer)
	if err := r.readDefaults(); err != nil {
		return nil, err
	}
	// Whoever asked to reconcile asks again, later each time; a worker doesn't wait for that.
	r.manager = manager.With(deploy.RetryFor(0), deploy.RecreateWait(recreateWait))
	if o.ownAnywhere {
		r.manager = r.manager.With(deploy.OwnedByLabel())
	}
	return r, nil
}

// Kind returns the kind whose resources are reconciled.
func (r *Reconciler) Kind() schema.GroupVersionKind { return r.controller.Kind() }

// Sources implements source.Provider by what the controller declares, if it does.
func (r *Reconciler) Sources() source.Sources { return r.sources }

func (r *Reconciler) now() time.Time { return r.options.now() }

// Reconcile brings the resource that req names to the state that its controller describes,
// as far as that is possible now, and writes what came of it into its status. A resource
// that is gone is left alone, and so is one that is paused, save that its status says so (ConditionPaused). The error is
// one to try again for, soon (request.Advanced) if more objects are as they should be than after any failure before; a
// resource that merely waits for its objects is no error. A request that names no resource of the controller's kind is
// a permanent one (spec: reconcile 1).
func (r *Reconciler) Reconcile(ctx context.Context, req request.Request) (request.Result, error) {
	if req.Key.Kind != r.Kind() || req.Key.Name == "" {
		return request.Result{}, request.Permanent(fmt.Errorf("request %s: names no resource of kind %s", req.Key, r.Kind().Kind))
	}
	ref := deploy.Ref{Kind: r.Kind(), Namespace: req.Key.Namespace, Name: req.Key.Name}
	resource, err := r.manager.View().Get(ctx, ref)
	var unknown *deploy.KindUnknownError
	if errors.As(err, &unknown) {
		resource, err = nil, nil // its kind isn't served any more; should it come back, so will what there is of it
	}
	if err != nil {
		return request.Result{}, err
	}
	if resource == nil {
		r.forget(ref)
		return request.Result{}, nil
	}
	if p, rests := r.paused(ctx, resource); rests {
		version, _ := r.options.versionOf(r.withDefaults(resource))
		r.tallied.note(ref, counted{standing: Paused, version: version})
		return r.rest(ctx, resource, p)
	}
	session := r.session(ctx, resource, req.Attempt)
	defer r.release(session)
	ctx = context.WithValue(ctx, loggerKey{}, session.logger)
	began := r.now()
	result, err := r.reconcile(ctx, session)
	switch {
	case err == nil:
		r.furthest.forget(ref)
	case r.gotFurther(session):
		err = request.Advanced(err)
	}
	if interrupted := ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded); !r.options.dryRun && !interrupted {
		before := r.tallied.of(ref)
		now := session.counted(before, err)
		r.tallied.note(ref, now)
		session.record(before, now, err)
		r.remade.note(session)
		r.regrown.made(session)
	}
	session.logger.Debug("reconciled", "triggers", req.Triggers.String(), "duration", r.now().Sub(began), "requeue_after", result.RequeueAfter, "error", err)
	return result, err
}

// reconcile goes the whole way for a resource that isn't paused (spec: reconcile 36, 44).
func (r *Reconciler) reconcile(ctx context.Context, session *Session) (request.Result, error) {
	resource := session.resource
	if resource.GetDeletionTimestamp() != nil {
		return r.finalize(ctx, session)
	}
	if r.finalizes() && !slices.Contains(resource.GetFinalizers(), r.options.finalizerName) {
		if err := r.manager.AddFinalizer(ctx, resource, r.options.finalizerName); err != nil {
			return r.ended(ctx, session, nil, err)
		}
	}
	if err := r.setup(ctx, session); err != nil {
		return r.ended(ctx, session, nil, err)
	}
	started := r.start(ctx, session)
	outcome, err := session.rollout(ctx, r)
	started()
	switch {
	case r.options.dryRun:
	case err != nil:
		session.keepKinds(&outcome)
	default:
		err = session.settleKinds(ctx, &outcome)
	}
	return r.ended(ctx, session, &outcome, errors.Join(outcome.Err(), err))
}

func (r *Reconciler) session(ctx context.Context, resource *unstructured.Unstructured, attempt int) *Session {
	id := newID()
	logger := logging.Scoped(ctx, r.loggerFor(resource, r.options.logger)).
		With("object", logged{deploy.RefOf(resource), resource.GetResourceVersion()}, "reconcile", id)
	logging.Annotate(ctx, slog.String("reconcile", id))
	manager := r.manager.With(deploy.OwnedBy(resource))
	return &Session{
		id: id, attempt: attempt, resource: resource, described: r.withDefaults(resource),
		unwritten: r.unwritten.of(deploy.RefOf(resource)),
		manager:   manager, home: manager.Namespace(), watcher: r.options.watcher, dryRun: r.options.dryRun,
		nameObjects: r.options.nameObjects, oper8Names: r.options.oper8Names,
		ownAnywhere: r.options.ownAnywhere, events: r.options.events, prunes: r.options.prunes, regrown: &r.regrown,
		readiness: r.options.readiness, classesUnread: &r.classesUnread, now: r.options.now,
		logger: logger, watched: len(r.options.observers) > 0,
	}
}

// withDefaults is resource with the controller's defaults under it, itself if there are none.
func (r *Reconciler) withDefaults(resource *unstructured.Unstructured) *unstructured.Unstructured {
	if len(r.defaults) == 0 {
		return resource
	}
	return &unstructured.Unstructured{Object: layered(r.defaults, resource.Object)}
}

// setup finds out what the resource wants, and has the controller add the components.
func (r *Reconciler) setup(ctx context.Context, s *Session) error {
	if err := r.prepare(ctx, s); err != nil {
		return err
	}
	if err := guarded(func() error { return r.controller.Setup(ctx, s) }); err != nil {
		return saidBy("setup", err)
	}
	return nil
}

// prepare finds out what the resource wants.
func (r *Reconciler) prepare(ctx context.Context, s *Session) (err error) {
	if s.version = s.fixedVersion; s.version == "" {
		if s.version, err = r.options.versionOf(s.described); err != nil {
			return err
		}
	}
	if err := r.options.checkVersion(s); err != nil {
		return err
	}
	if err := r.openAssets(ctx, s); err != nil {
		return fmt.Errorf("version %s: %w", s.version, err)
	}
	if err := r.configure(ctx, s); err != nil {
		return err
	}
	if err := r.findPatches(ctx, s); err != nil {
		return err
	}
	if err := r.upgrade(ctx, s); err != nil {
		return fmt.Errorf("upgrade from %s to %s: %w", s.CurrentVersion(), s.version, err)
	}
	return nil
}

// findPatches asks for the patches of the objects.
func (r *Reconciler) findPatches(ctx context.Context, s *Session) error {
	for _, patcher := range r.options.patchers {
		var patches []Patch
		if err := guarded(func() (err error) {
			patches, err = patcher.Patches(ctx, Target{s.resource, r.manager.View(), s.dryRun})
			return err
		}); err != nil {
			return fmt.Errorf("patches: %w", err)
		}
		s.patches = append(s.patches, patches...)
	}
	return nil
}

// upgrade tells the controller of a change of version, if it wants to know.
func (r *Reconciler) upgrade(ctx context.Context, s *Session) error {
	upgrader, ok := r.controller.(Upgrader)
	from := s.CurrentVersion()
	if !ok || from == "" || s.version == "" || from == s.version {
		return nil
	}
	return guarded(func() error { return upgrader.Upgrade(ctx, s, from, s.version) })
}

// release ends a session, and tells the controller of it if it wants to know.
func (r *Reconciler) release(s *Session) {
	if releaser, ok := r.controller.(Releaser); ok {
		s.told("Release", func() { releaser.Release(s) })
	}
	if s.releaseAssets != nil {
		s.told("release of Assets", s.releaseAssets)
	}
}

// told calls what answers nothing; its panic is logged.
func (s *Session) told(method string, call func()) {
	if err := guarded(func() error { call(); return nil }); err != nil {
		s.logger.Error("panic", "method", method, "error", err)
	}
}

// guarded calls a controller's method. A panic is an error of the resource like any other,
// so that the resource says what is wrong with it.
func guarded(method func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &dag.PanicError{Value: value, Stack: debug.Stack()}
		}
	}()
	return method()
}

// ended writes the status and decides what comes next.
func (r *Reconciler) ended(ctx context.Context, s *Session, outcome *Outcome, err error) (request.Result, error) {
	for _, panicked := range panicsIn(err) {
		s.logger.Error("panic", "value", panicked.Value, "stack", string(panicked.Stack))
	}
	switch {
	case r.options.dryRun && err != nil:
		return request.Result{}, err
	case IsPassing(err) && s.attempt < quietAttempts:
		// Somebody else was quicker. That is no failure: look again, with what they wrote.
		r.unwritten.keep(deploy.RefOf(s.resource), outcome)
		after, asked := request.RetryTime(err)
		if !asked {
			after = lookAgain
		}
		return request.Result{}, request.RetryAfter(after, request.Quiet(err))
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		err = errors.Join(context.Cause(ctx), err)
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), lastWord)
		defer cancel()
	case ctx.Err() != nil:
		r.unwritten.keep(deploy.RefOf(s.resource), outcome)
		return request.Result{}, errors.Join(context.Cause(ctx), err)
	}
	if outcome != nil && len(outcome.Components) == 0 && err != nil {
		outcome = nil
	}
	err = r.exhausted(ctx, s, err)
	s.ended = report{generation: s.resource.GetGeneration(), outcome: outcome, err: err}
	unwritten := r.writeStatus(ctx, s, s.ended)
	if err != nil && classOf(err) > classVerification {
		if after, ok := isUnavailable(err); ok && after > 0 {
			err = request.RetryAfter(after, err)
		}
		if after := whenFree(err); after > 0 {
			err = request.RetryAfter(after, err)
		}
		if unwritten != nil && request.IsPermanent(err) {
			// It is to be said yet.
			err = request.RetryAfter(r.options.recheck, err)
		}
		return request.Result{}, err
	}
	if unwritten != nil {
		return request.Result{}, unwritten
	}
	switch {
	case err != nil && outcome == nil:
		return request.Result{RequeueAfter: retryTime(err, r.options.recheck)}, nil
	case err != nil:
		return request.Result{RequeueAfter: outcome.retryTime(r.options.recheck, err)}, nil
	case outcome == nil:
		return request.Result{RequeueAfter: r.options.period}, nil
	}
	after := r.options.period
	if !outcome.Complete() {
		after = outcome.retryTime(r.options.recheck)
	}
	result := request.Result{RequeueAfter: after}
	if requeuer, ok := r.controller.(Requeuer); ok {
		result, err = r.requeue(ctx, requeuer, s, *outcome, after)
	}
	if outcome.Complete() && err == nil {
		result.Wrote = s.wrote()
	}
	return result, err
}
