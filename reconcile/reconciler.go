package reconcile

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/internal/lifecycle"
	"github.com/operkit/operkit/reconcile/internal/memory"
	"github.com/operkit/operkit/reconcile/internal/render"
	"github.com/operkit/operkit/reconcile/logging"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/operkit/operkit/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// lookAgain is the time after which a resource is reconciled again if another writer was faster. quietAttempts is
	// how often in a row this must happen before it is reported.
	lookAgain     = 50 * time.Millisecond
	quietAttempts = 3
	// lastWord bounds the write of the status after a reconcile that took too long.
	lastWord = 10 * time.Second
	// recreateWait bounds the wait for the deletion of an object that is recreated; after that a later reconcile
	// creates it.
	recreateWait = 500 * time.Millisecond
	// gateInterval is how often a closed gate is called again while other components are deployed; the gate is also
	// called when one of these deployments ends.
	gateInterval = 500 * time.Millisecond
	// idLength is the length of a session's id.
	idLength = 22
)

// Reconciler reconciles the resources of one Controller. It is safe for concurrent use.
type Reconciler struct {
	controller Controller
	finalizer  Finalizer
	manager    *deploy.Manager
	options    options
	lifecycle  lifecycle.Lifecycle
	// classesUnread logs once that storage classes can't be read.
	classesUnread sync.Once
	sources       source.Sources
	defaults      Defaults
	// rendered are the kinds of components, for lists of missing rights.
	rendered renderings
}

// New returns a Reconciler for the resources of controller.
func New(controller Controller, manager *deploy.Manager, opts ...Option) (*Reconciler, error) {
	if err := checkController(controller); err != nil {
		return nil, err
	}
	if manager == nil {
		return nil, fmt.Errorf("controller %T: nil manager", controller)
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
	// The engine retries with backoff, so that no worker waits for a retry.
	own := []deploy.Option{deploy.RetryFor(0), deploy.RecreateWait(recreateWait)}
	if o.ownAnywhere {
		own = append(own, deploy.OwnedByLabel())
	}
	if r.manager, err = manager.With(own...); err != nil {
		return nil, err
	}
	l := &r.lifecycle
	l.Kind, l.Manager, l.Logger, l.Now, l.Recheck = r.Kind(), r.manager, o.logger, o.now, o.recheck
	l.States = stateNames()
	l.NoStatus, l.DryRun, l.PauseDeletions = o.has(NoStatus), o.dryRun, o.pauseDeletions
	l.Version = func(resource *unstructured.Unstructured) string {
		version, _ := o.versionOf(r.withDefaults(resource))
		return version
	}
	if err := r.declareConditions(); err != nil {
		return nil, err
	}
	return r, nil
}

// declareConditions reads the conditions of the controller's own.
func (r *Reconciler) declareConditions() error {
	declarer, ok := r.controller.(ConditionDeclarer)
	if !ok {
		return nil
	}
	own, err := failure.Value(declarer.Conditions)
	switch {
	case err != nil:
		err = fmt.Errorf("conditions: %w", err)
	case r.options.has(NoStatus):
		err = errors.New("conditions: they are part of the status, which NoStatus leaves alone: leave one of the two out")
	default:
		err = r.lifecycle.Declare(own)
	}
	if err != nil {
		return fmt.Errorf("controller %T: %w", r.controller, err)
	}
	return nil
}

// Conditions returns the conditions of the controller's own, see ConditionDeclarer. The caller may change the slice.
func (r *Reconciler) Conditions() []status.Declared { return r.lifecycle.Declared() }

// Kind returns the kind whose resources are reconciled.
func (r *Reconciler) Kind() schema.GroupVersionKind { return r.controller.Kind() }

// Sources implements source.Provider: it returns the controller's Sources.
func (r *Reconciler) Sources() source.Sources { return r.sources }

func (r *Reconciler) now() time.Time { return r.options.now() }

// Reconcile brings the resource of the request to the state that its controller describes, as far as that is possible
// now, and writes the outcome into its status. It does nothing for a resource that is gone. For a paused resource it
// only reports the pause (ConditionPaused). An error means that the reconcile has failed; package request tells whether
// it is retried. The error is Advanced (request.Error) if more objects are as they should be than after any earlier
// failure. Waiting for objects isn't an error. A request for another kind is a permanent error.
func (r *Reconciler) Reconcile(ctx context.Context, req request.Request) (request.Result, error) {
	resource, rest, err := r.lifecycle.Begin(ctx, req)
	if resource == nil {
		return rest, err
	}
	session, err := r.session(ctx, resource, req.Attempt)
	if err != nil {
		return request.Result{}, err
	}
	defer session.release()
	ctx = context.WithValue(ctx, loggerKey{}, session.logger)
	session.began = r.now()
	result, err := r.reconcile(ctx, session)
	if session.advanced(err) {
		err = &request.Error{Advanced: true, Err: err}
	}
	if !r.options.dryRun && !lifecycle.Interrupted(ctx) {
		session.conclude(err)
	}
	session.logger.Debug("reconciled", "triggers", req.Triggers.String(), "duration", r.now().Sub(session.began), "requeue_after", result.RequeueAfter, "error", err)
	return result, err
}

// reconcile reconciles a resource that isn't paused.
func (r *Reconciler) reconcile(ctx context.Context, session *Session) (request.Result, error) {
	resource := session.resource
	if resource.GetDeletionTimestamp() != nil {
		return r.finalize(ctx, session)
	}
	if r.finalizes() && len(r.held(resource)) == 0 {
		if err := r.lifecycle.AddFinalizer(ctx, resource, r.options.finalizers[0]); err != nil {
			return r.ended(ctx, session, nil, err)
		}
	}
	if err := r.setup(ctx, session); err != nil {
		return r.ended(ctx, session, nil, err)
	}
	started := r.start(ctx, session)
	outcome, err := session.rollout(ctx)
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

func (r *Reconciler) session(ctx context.Context, resource *unstructured.Unstructured, attempt int) (*Session, error) {
	manager, err := r.manager.With(deploy.OwnedBy(resource))
	if err != nil {
		return nil, err
	}
	id := rand.Text()[:idLength]
	logger := logging.Scoped(ctx, r.lifecycle.LoggerFor(resource)).
		With("object", logged{deploy.RefOf(resource), resource.GetResourceVersion()}, "reconcile", id)
	logging.Annotate(ctx, slog.String("reconcile", id))
	s := &Session{
		reconciler: r, id: id, attempt: attempt, resource: resource, described: r.withDefaults(resource),
		manager: manager, home: manager.Namespace(), watcher: r.options.watcher, dryRun: r.options.dryRun,
		events: r.options.events, logger: logger, own: r.lifecycle.Visit(resource, logger),
	}
	if r.options.has(NoStatus) {
		s.fields.Refuse(errNoStatus)
	}
	r.lifecycle.Memory.Look(deploy.RefOf(resource), func(m *memory.Resource) { s.unwritten = m.Unwritten })
	return s, nil
}

// withDefaults returns resource with the controller's defaults merged under it, or resource itself if there are none.
func (r *Reconciler) withDefaults(resource *unstructured.Unstructured) *unstructured.Unstructured {
	if len(r.defaults.Resource) == 0 {
		return resource
	}
	return &unstructured.Unstructured{Object: render.Layered(r.defaults.Resource, resource.Object)}
}

// setup prepares the session and calls Setup.
func (r *Reconciler) setup(ctx context.Context, s *Session) error {
	if err := r.prepare(ctx, s); err != nil {
		return err
	}
	if err := failure.Guard(func() error { return r.controller.Setup(ctx, s) }); err != nil {
		return attributed("setup", err)
	}
	return nil
}

// release ends the session.
func (s *Session) release() {
	s.cleaning.Lock()
	cleanups := s.cleanups
	s.released, s.cleanups = true, nil
	s.cleaning.Unlock()
	for _, f := range slices.Backward(cleanups) {
		s.clean(f)
	}
}

// ended reports how the reconcile has ended, in the status, and returns when the resource is reconciled again.
func (r *Reconciler) ended(ctx context.Context, s *Session, outcome *Outcome, err error) (request.Result, error) {
	for _, panicked := range request.Panics(err) {
		s.logger.Error("panic", "at", panicked.Location(), "value", panicked.Value, "stack", string(panicked.Stack))
	}
	surveys := true // after a deadline there is only time for the status
	switch {
	case r.options.dryRun && err != nil:
		return request.Result{}, err
	case request.Resolve(err).Passing && s.attempt < quietAttempts:
		// Another writer was faster, which is no failure: the reconcile is repeated with the newer state.
		s.keepUnwritten(outcome)
		after, asked := request.RetryTime(err)
		if !asked {
			after = lookAgain
		}
		return request.Result{}, &request.Error{Quiet: true, RetryAfter: after, Err: err}
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		err, surveys = errors.Join(context.Cause(ctx), err), false
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), lastWord)
		defer cancel()
	case ctx.Err() != nil:
		s.keepUnwritten(outcome)
		return request.Result{}, errors.Join(context.Cause(ctx), err)
	}
	if invalid := errors.Join(s.own.Err(), s.fields.Err()); invalid != nil {
		err = errors.Join(err, mistake(invalid))
	}
	if outcome != nil && len(outcome.Components) == 0 && err != nil {
		outcome = nil
	}
	if surveys {
		err = s.withRights(ctx, err)
	}
	err = s.exhausted(ctx, err)
	values, invalid := s.fields.Close(errStatusWritten)
	if invalid != nil {
		err = errors.Join(err, mistake(invalid))
	}
	s.ended = report{generation: s.resource.GetGeneration(), outcome: outcome, err: err, values: values}
	unwritten := r.writeStatus(ctx, s, &s.ended)
	if surveys {
		unwritten = s.withRights(ctx, unwritten)
	}
	return r.next(ctx, s, unwritten)
}

// next decides when the resource of a session that has ended is reconciled again. unwritten is the error of the write
// of the status, if writing it again makes sense.
func (r *Reconciler) next(ctx context.Context, s *Session, unwritten error) (request.Result, error) {
	outcome, err := s.ended.outcome, s.ended.err
	if err != nil && !request.IsWaiting(err) {
		if after, ok := lifecycle.Unavailable(err); ok && after > 0 {
			err = request.RetryAfter(after, err)
		}
		if unwritten != nil && request.IsPermanent(err) {
			// The error must still be written into the status.
			err = request.RetryAfter(r.options.recheck, err)
		}
		return request.Result{}, err
	}
	if unwritten != nil {
		return request.Result{}, unwritten
	}
	switch {
	case err != nil && outcome == nil:
		return s.soon(request.Result{RequeueAfter: retryTime(err, r.options.recheck)}), nil
	case err != nil:
		return s.soon(request.Result{RequeueAfter: outcome.retryTime(r.options.recheck, err)}), nil
	case outcome == nil:
		return s.soon(request.Result{RequeueAfter: r.options.period}), nil
	}
	after := r.options.period
	if !outcome.Complete() {
		after = outcome.retryTime(r.options.recheck)
	}
	result := request.Result{RequeueAfter: after}
	if requeuer, ok := r.controller.(Requeuer); ok {
		result, err = r.requeue(ctx, requeuer, s, *outcome, after)
	}
	if err != nil {
		return result, err
	}
	if outcome.Complete() {
		result.Wrote = s.wrote()
	}
	return s.soon(result), nil
}
