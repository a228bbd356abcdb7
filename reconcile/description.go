package reconcile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/operkit/operkit/dag"
	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/status/readiness"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Description holds the components that a controller describes for a resource, so that another process can roll them
// out (module reconcile/versions). It is a session in which nothing is deployed, verified or written.
type Description struct {
	session *Session
	// graph is nil for a resource that is being deleted.
	graph *dag.Graph[*Component]
}

// Describing has the settings of a Description. The zero value is ready for use.
type Describing struct {
	// ID identifies the reconcile in logs. Empty means a new id.
	ID string
	// Version overrides the version that the resource wants.
	Version string
	// DryRun makes the session a dry run, see Session.DryRun.
	DryRun bool
	// Logger is the session's logger; nil means the Reconciler's.
	Logger *slog.Logger
	// Events receives the events of the session; nil means the Reconciler's.
	Events event.Sink
	// Status receives what the session sets in the status; nil means that it isn't written.
	Status StatusSink
	// unwatched: the session watches nothing. surveys is that of the session.
	unwatched, surveys bool
}

// StatusSink receives what a session sets in the status of its resource. Its methods are called concurrently.
type StatusSink interface {
	// SetStatus receives the arguments of Session.SetStatus.
	SetStatus(path string, value any)
	// SetCondition receives a condition that the controller reports, see Session.Conditions. It may be invalid.
	SetCondition(c metav1.Condition)
	// FlushConditions writes the conditions that were set so far.
	FlushConditions(ctx context.Context) error
}

// Describe prepares a session and calls Setup, unless the resource is being deleted. The error is the one that
// Reconcile would return. Even with an error the Description is valid, for hooks such as Exhausted; it is nil only if
// no session could be made. Call Release when the Description is no longer used.
func (r *Reconciler) Describe(ctx context.Context, resource *unstructured.Unstructured, as Describing) (*Description, error) {
	if resource.GroupVersionKind() != r.Kind() {
		return nil, fmt.Errorf("%s: not of the kind %s", deploy.RefOf(resource), r.Kind().Kind)
	}
	s, err := r.session(ctx, resource, 0)
	if err != nil {
		return nil, err
	}
	s.dryRun, s.fixedVersion = s.dryRun || as.DryRun, as.Version
	if s.status = as.Status; s.status != nil {
		s.own.ForwardTo(s.status)
	}
	s.id, s.logger, s.events = cmp.Or(as.ID, s.id), cmp.Or(as.Logger, s.logger), cmp.Or(as.Events, s.events)
	s.surveys = as.surveys
	if as.unwatched {
		s.watcher = nil
	}
	if s.dryRun { // for writes that Setup makes itself
		if s.manager, err = s.manager.With(deploy.DryRun()); err != nil {
			return nil, err
		}
	}
	d := &Description{session: s}
	return d, d.describe(d.Context(ctx))
}

func (d *Description) describe(ctx context.Context) (err error) {
	if d.session.resource.GetDeletionTimestamp() != nil {
		return d.session.reconciler.setupFinalize(ctx, d.session)
	}
	if err := d.session.reconciler.setup(ctx, d.session); err != nil {
		return err
	}
	if d.graph, err = d.session.graph(); err != nil {
		return err
	}
	d.session.rolling.begin()
	return nil
}

// Finalize calls the controller's Finalize for a resource that is being deleted. When it returns nil, the session has
// the components that Finalize added and didn't remove, and no more can be added.
func (d *Description) Finalize(ctx context.Context) error {
	r, s := d.session.reconciler, d.session
	if r.finalizer == nil {
		return fmt.Errorf("controller %T: has no Finalize", r.controller)
	}
	ctx = d.Context(ctx)
	err := failure.Guard(func() error { return r.finalizer.Finalize(ctx, s) })
	if err == nil && s.addedInFinalize() {
		if err = r.findPatches(ctx, s); err == nil {
			_, err = s.graph()
		}
	}
	s.rolling.begin()
	return d.Err(err)
}

// Release ends the session.
func (d *Description) Release() { d.session.release() }

// Session returns the session.
func (d *Description) Session() *Session { return d.session }

// Context returns a context for calling methods of the controller, in which LoggerOf returns the session's logger.
func (d *Description) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, loggerKey{}, d.session.logger)
}

// Dependency is a component that another one waits for.
type Dependency struct {
	// Upstream is waited for until it is deployed and Gates are open.
	Upstream *Component
	Gates    []Gate
}

// Dependencies returns the components that c waits for, in the order in which they were added.
func (d *Description) Dependencies(c *Component) []Dependency {
	found := make([]Dependency, len(c.upstreams))
	for i, up := range c.upstreams {
		found[i] = Dependency{up.component, slices.Clone(up.gates)}
	}
	return found
}

// Builder returns the Builder of c, nil if Session.Add has added c.
func (d *Description) Builder(c *Component) Builder { return c.builder }

// Rendered is an object of a component as it is deployed.
type Rendered struct {
	// Object is the object that was added.
	Object *Object
	// Content is shared: it must not be changed.
	Content *unstructured.Unstructured
	// Judge decides whether the object is ready (ReadyWhen, ReadyBy, AndReadyWhen); nil means that package readiness
	// decides. And: package readiness decides first, and Judge is for an object that it finds ready.
	Judge Judge
	And   bool
}

// Render returns the objects of c in the order in which they are deployed, with all patches. It calls a Builder only
// once.
func (d *Description) Render(ctx context.Context, c *Component) ([]Rendered, error) {
	rendered, err := d.session.render(d.Context(ctx), c)
	if err != nil {
		return nil, err
	}
	objects := make([]Rendered, len(rendered.contents))
	for i, o := range rendered.objects {
		judge, and := d.session.judgeOf(o)
		objects[i] = Rendered{o, rendered.contents[i], judge, and}
	}
	return objects, nil
}

// judgeOf returns the Judge of an object, nil if package readiness decides. and: package readiness decides first.
func (s *Session) judgeOf(o *Object) (judge Judge, and bool) {
	_, registered := s.reconciler.options.readiness.Registry[o.ref.Kind.GroupKind()]
	switch {
	case o.judge == nil && !registered && len(o.and) == 0:
		return nil, false
	case o.judge != nil || !registered:
		return o.judged, o.judge == nil
	}
	return func(ctx context.Context, live *unstructured.Unstructured) error {
		if err := s.judgedByRegistry(ctx, live); err != nil {
			return err
		}
		return o.judged(ctx, live)
	}, false
}

// judgedByRegistry judges an object by the Checker of the operator.
func (s *Session) judgedByRegistry(ctx context.Context, live *unstructured.Unstructured) error {
	result, err := s.judge().Object(ctx, live)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("%s (%s)", result.State, cmp.Or(result.Message, result.Reason))
	switch result.State {
	case readiness.Ready:
		return nil
	case readiness.Failed:
		return mistake(errors.New(text))
	}
	return request.Precondition("%s", text)
}

// Err returns err, the error of a method of the controller, joined with the mistakes that the method made, such as
// components that it added too late.
func (d *Description) Err(err error) error { return d.session.withMistakes(err) }
