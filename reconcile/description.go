package reconcile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/status/readiness"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Description is what a controller says of one resource, for somebody else to roll out, such as another process (package versions). It is one
// session, of which nothing is deployed, verified or written into a status here.
type Description struct {
	reconciler *Reconciler
	session    *Session
}

// Describing says for which reconcile a Description is; the zero value is for none in particular.
type Describing struct {
	// ID names the reconcile in logs; a new one by default.
	ID string
	// Version is the one that the resource wants; by default what VersionField and VersionOverride say.
	Version string
	// DryRun has the controller know that nothing is deployed for real, see Session.DryRun.
	DryRun bool
	// Logger is that of the session; by default that of the Reconciler.
	Logger *slog.Logger
	// Events takes what Session.Event says; by default the Reconciler's (Events).
	Events event.Sink
}

// Describe has the controller describe a resource: Setup is called, with what comes before it, unless the resource is being deleted. The
// error is the one that Reconcile would have come to; the Description is there all the same, for hooks that are told of it (Exhauster), and nil
// only if the resource can't be described here at all. It must be released.
func (r *Reconciler) Describe(ctx context.Context, resource *unstructured.Unstructured, as Describing) (*Description, error) {
	if resource.GroupVersionKind() != r.Kind() {
		return nil, fmt.Errorf("%s: it isn't of the kind %s", deploy.RefOf(resource), r.Kind().Kind)
	}
	s, err := r.session(ctx, resource, 0)
	if err != nil {
		return nil, err
	}
	s.dryRun, s.fixedVersion = s.dryRun || as.DryRun, as.Version
	if as.ID != "" {
		s.id = as.ID
	}
	if as.Logger != nil {
		s.logger = as.Logger
	}
	if as.Events != nil {
		s.events = as.Events
	}
	if s.dryRun { // for what Setup does by itself
		if s.manager, err = s.manager.With(deploy.DryRun()); err != nil {
			return nil, err
		}
	}
	d := &Description{reconciler: r, session: s}
	return d, d.describe(d.Context(ctx))
}

func (d *Description) describe(ctx context.Context) error {
	if d.session.resource.GetDeletionTimestamp() != nil {
		return d.reconciler.setupFinalize(ctx, d.session)
	}
	if err := d.reconciler.setup(ctx, d.session); err != nil {
		return err
	}
	if _, err := d.session.graph(); err != nil {
		return err
	}
	d.session.rolling.begin()
	return nil
}

// Finalize calls the controller's Finalize for a resource that is being deleted. Once it returns nil, the components
// that Finalize added and didn't remove are those of the session, and nothing can be added any more.
func (d *Description) Finalize(ctx context.Context) error {
	r, s := d.reconciler, d.session
	if r.finalizer == nil {
		return fmt.Errorf("controller %T: has no Finalize", r.controller)
	}
	ctx = d.Context(ctx)
	err := guarded(func() error { return r.finalizer.Finalize(ctx, s) })
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

// Session returns the session that the controller described the resource in.
func (d *Description) Session() *Session { return d.session }

// Context returns ctx as one that belongs to the session, for methods of the controller: LoggerOf is the session's logger there.
func (d *Description) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, loggerKey{}, d.session.logger)
}

// Dependency is one component that another waits for.
type Dependency struct {
	// Upstream is the one that is waited for, Gates are what has to be true of it.
	Upstream *Component
	Gates    []Gate
}

// Dependencies are what c waits for, in the order in which that was said.
func (d *Description) Dependencies(c *Component) []Dependency {
	found := make([]Dependency, len(c.upstreams))
	for i, up := range c.upstreams {
		found[i] = Dependency{up.component, slices.Clone(up.gates)}
	}
	return found
}

// Builder is what c was added with by Session.Use, nil for one that was added by Session.Add.
func (d *Description) Builder(c *Component) Builder { return c.builder }

// Rendered is one object of a component as it is to be deployed.
type Rendered struct {
	// Object is what was added.
	Object *Object
	// Content is shared: it must not be changed.
	Content *unstructured.Unstructured
	// Judge says whether it is ready: what it was added with (ReadyWhen), or what ReadyBy has for its kind. nil where package readiness
	// does.
	Judge Judge
}

// Render returns the objects of c in the order in which they are deployed, with all patches. A Builder is asked for them, once.
func (d *Description) Render(ctx context.Context, c *Component) ([]Rendered, error) {
	rendered, err := d.session.render(d.Context(ctx), c)
	if err != nil {
		return nil, err
	}
	objects := make([]Rendered, len(rendered.contents))
	for i, o := range rendered.objects {
		objects[i] = Rendered{o, rendered.contents[i], d.session.judgeOf(o)}
	}
	return objects, nil
}

// judgeOf is who judges an object otherwise than package readiness does by itself, nil for nobody.
func (s *Session) judgeOf(o *Object) Judge {
	if len(s.reconciler.options.readiness.Registry) == 0 || o.judge != nil {
		return o.judge
	}
	if _, known := s.reconciler.options.readiness.Registry[o.ref.Kind.GroupKind()]; !known {
		return nil
	}
	return func(ctx context.Context, live *unstructured.Unstructured) error {
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
}

// Err is what a method of the controller that was called for the session has done wrong besides: components that it added too late, say.
func (d *Description) Err(err error) error { return d.session.withMistakes(err) }
