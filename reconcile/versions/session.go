package versions

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/versions/internal/wire"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// session is a session of the manager. A version renders the session's resource.
type session struct {
	process *process
	local   *reconcile.Session
	release func()
	// instance identifies the process: digests of different instances can't be compared.
	instance string
}

// begin begins a session in the version that a resource names. It returns the components of the resource.
func (c *controller) begin(ctx context.Context, local *reconcile.Session) (*session, *wire.Described, error) {
	v, err := c.pool.of(local.Version())
	if err != nil {
		return nil, nil, err
	}
	proc, release, err := v.acquire(ctx)
	if err != nil {
		return nil, nil, err
	}
	s := &session{process: proc, local: local, release: release}
	c.pool.mu.Lock()
	c.pool.sessions[local.ID()] = s
	c.pool.mu.Unlock()
	local.Cleanup(func() {
		c.pool.mu.Lock()
		delete(c.pool.sessions, local.ID())
		c.pool.mu.Unlock()
		s.end()
	})
	kind := wire.NewKind(c.union.kind)
	if proc.declaration.ControlledKind(kind) == nil {
		return nil, nil, request.Configuration("version %s doesn't know the kind %s", v.name, c.union.kind.Kind)
	}
	if !local.DryRun() {
		c.pool.residents.Store(deploy.Ref{Kind: local.Kind(), Namespace: local.Namespace(), Name: local.Name()}, v)
	}
	resource := local.Resource()
	unstructured.RemoveNestedField(resource.Object, "metadata", "managedFields") // large, and versions don't need them
	var described wire.Described
	err = s.call(ctx, wire.Setup, wire.Session{
		ID: local.ID(), Kind: kind, Resource: resource.Object, Version: local.Version(), DryRun: local.DryRun(), Level: int(sessionLevel(local, resource)),
	}, &described)
	if err == nil && described.Instance == "" {
		err = fmt.Errorf("version %s: its answer has no instance: the answer is ignored", v.name)
	}
	s.instance = described.Instance
	return s, &described, verbatim(err)
}

// verbatim marks err so that no method name is put before its text. nil stays nil.
func verbatim(err error) error {
	if err == nil {
		return nil
	}
	return &request.Error{Verbatim: true, Err: err}
}

// sessionLevel returns the lowest level that a session may log: the debug level if the resource has the annotation
// log-filters, which sets levels for single channels of the log.
func sessionLevel(s *reconcile.Session, resource *unstructured.Unstructured) slog.Level {
	if resource.GetAnnotations()[s.Manager().KeyDomain()+"/log-filters"] != "" {
		return slog.LevelDebug
	}
	return levelOf(s.Logger())
}

// call calls the version. If the process is gone, the error is request.Passing, since the version is started again.
func (s *session) call(ctx context.Context, method string, body, target any) error {
	s.process.version.count(method)
	err := s.process.peer.Call(ctx, method, body, target)
	if errors.Is(err, wire.ErrGone) {
		err = s.process.because(err)
		select {
		case <-s.process.over: // then the version knows when the next process may start
		case <-ctx.Done():
		}
		return s.process.version.gone(err)
	}
	return err
}

// end ends the session in the version.
func (s *session) end() {
	_ = s.process.peer.Notify(wire.Release, s.local.ID())
	s.release()
}

// part names a component.
func (s *session) part(component string) wire.Part {
	return wire.Part{Session: s.local.ID(), Component: component}
}

// add adds the components to the session.
func (s *session) add(described *wire.Described) error {
	components := make(map[string]*reconcile.Component, len(described.Components))
	for i := range described.Components {
		rendered := &described.Components[i]
		c := s.local.Use(rendered.Name, &component{session: s, rendered: rendered, kinds: described.Kinds})
		if rendered.Disabled {
			c.Disable()
		}
		components[rendered.Name] = c
	}
	for _, rendered := range described.Components {
		for _, edge := range rendered.After {
			upstream := components[edge.Upstream]
			if upstream == nil {
				return fmt.Errorf("version %s: component %s waits for component %s, which the version's answer doesn't contain", s.process.version.name, rendered.Name, edge.Upstream)
			}
			components[rendered.Name].After(upstream, s.gates(rendered.Name, edge)...)
		}
	}
	return nil
}

// gates returns the gates of a dependency.
func (s *session) gates(name string, edge wire.Edge) (gates []reconcile.Gate) {
	if edge.Ready {
		gates = append(gates, reconcile.Ready)
	}
	if edge.OtherGates {
		part := s.part(name)
		part.Upstream = edge.Upstream
		gates = append(gates, func(ctx context.Context, _ *reconcile.Component) (open bool, err error) {
			err = s.call(ctx, wire.Gate, part, &open)
			return open, err
		})
	}
	return gates
}

// component is a component whose objects a version has rendered, or renders when the component is about to be deployed.
type component struct {
	session  *session
	rendered *wire.Component
	kinds    []wire.Kind
}

// Build implements reconcile.Builder.
func (b *component) Build(ctx context.Context, _ *reconcile.Session, c *reconcile.Component) error {
	if b.rendered.Problem != nil {
		return verbatim(b.rendered.Problem.Err())
	}
	objects, kinds := b.rendered.Objects, b.kinds
	if b.rendered.Built {
		var answer wire.Objects
		if err := b.session.call(ctx, wire.Render, b.session.part(b.rendered.Name), &answer); err != nil {
			return verbatim(err)
		}
		objects, kinds = answer.Objects, answer.Kinds
	}
	gvks := wire.GVKs(kinds)
	for i := range objects {
		if err := b.add(c, &objects[i], gvks); err != nil {
			return err
		}
	}
	return nil
}

func (b *component) add(c *reconcile.Component, object *wire.Object, kinds []schema.GroupVersionKind) error {
	var options []reconcile.ObjectOption
	switch object.Judged {
	case wire.JudgedAlone:
		options = append(options, reconcile.ReadyWhen(b.judge(object.Name)))
	case wire.JudgedToo:
		options = append(options, reconcile.AndReadyWhen(b.judge(object.Name)))
	}
	if object.Content != nil {
		c.Add(object.Name, &unstructured.Unstructured{Object: object.Content}, append(options, reconcile.Finished())...)
		return nil
	}
	if object.Kind < 0 || object.Kind >= len(kinds) {
		return fmt.Errorf("version %s: object %s: has no kind", b.session.process.version.name, object.Name)
	}
	c.Add(object.Name, reconcile.Deferred{
		Ref:     deploy.Ref{Kind: kinds[object.Kind], Namespace: object.Namespace, Name: object.Ref},
		Digest:  b.session.instance + strconv.FormatUint(object.Digest, 36),
		Content: b.content(object.Name),
	}, options...)
	return nil
}

// part names an object.
func (b *component) part(object string) wire.Part {
	part := b.session.part(b.rendered.Name)
	part.Object = object
	return part
}

// judge returns a Judge that calls the version.
func (b *component) judge(object string) reconcile.Judge {
	return func(ctx context.Context, live *unstructured.Unstructured) error {
		part := b.part(object)
		part.Live = live.Object
		return b.session.call(ctx, wire.Judge, part, nil)
	}
}

// content returns a function that gets the content of an object from the version.
func (b *component) content(object string) func(context.Context) (*unstructured.Unstructured, error) {
	return func(ctx context.Context) (*unstructured.Unstructured, error) {
		var content map[string]any
		err := b.session.call(ctx, wire.Content, b.part(object), &content)
		return &unstructured.Unstructured{Object: content}, err
	}
}
