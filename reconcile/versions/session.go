package versions

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/versions/internal/wire"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// session is one session of the manager, which a version describes.
type session struct {
	life    *life
	local   *reconcile.Session
	release func()
	// instance is what tells the digests of this process from those of others.
	instance string
}

// begin has the version that a resource wants describe it.
func (c *controller) begin(ctx context.Context, local *reconcile.Session) (*session, *wire.Described, error) {
	v, err := c.pool.of(local.Version())
	if err != nil {
		return nil, nil, err
	}
	l, release, err := v.acquire(ctx)
	if err != nil {
		return nil, nil, err
	}
	s := &session{life: l, local: local, release: release}
	c.pool.mu.Lock()
	c.pool.sessions[local.ID()] = s
	c.pool.mu.Unlock()
	if l.ruled(c.union.kind) == nil {
		return nil, nil, reconcile.Configuration("version %s doesn't know the kind %s", v.name, c.union.kind.Kind)
	}
	var described wire.Described
	err = s.call(ctx, wire.Setup, wire.Session{
		ID: local.ID(), Kind: wire.NewKind(local.Kind()), Resource: withoutManagers(local.Resource()), Version: local.Version(),
		DryRun: local.DryRun(),
	}, &described)
	s.instance = described.Instance
	return s, &described, err
}

// withoutManagers leaves out what is long and nobody's business. resource is a copy.
func withoutManagers(resource *unstructured.Unstructured) map[string]any {
	unstructured.RemoveNestedField(resource.Object, "metadata", "managedFields")
	return resource.Object
}

// call asks the version. That it is gone is an error that passes: it is started again.
func (s *session) call(ctx context.Context, method string, body, target any) error {
	s.life.version.count(method)
	err := s.life.peer.Call(ctx, method, body, target)
	if errors.Is(err, wire.ErrGone) {
		return reconcile.Passing(fmt.Errorf("version %s: %w", s.life.version.name, s.life.because(err)))
	}
	return err
}

// end tells the version that the session has ended.
func (s *session) end() {
	// One that is gone has forgotten it.
	_ = s.life.peer.Notify(wire.Release, s.local.ID())
	s.release()
}

func (s *session) part(component string) wire.Part {
	return wire.Part{Session: s.local.ID(), Component: component}
}

// add adds the components to the session.
func (s *session) add(described *wire.Described) error {
	components := make(map[string]*reconcile.Component, len(described.Components))
	for i := range described.Components {
		told := &described.Components[i]
		c := s.local.Use(told.Name, &component{session: s, told: told, kinds: described.Kinds})
		if told.Disabled {
			c.Disable()
		}
		components[told.Name] = c
	}
	for _, told := range described.Components {
		for _, edge := range told.After {
			upstream := components[edge.Upstream]
			if upstream == nil {
				return fmt.Errorf("version %s: component %s waits for %s, which it doesn't tell of", s.life.version.name, told.Name, edge.Upstream)
			}
			components[told.Name].After(upstream, s.gates(told.Name, edge)...)
		}
	}
	return nil
}

// gates are those of a dependency.
func (s *session) gates(name string, edge wire.Edge) (gates []reconcile.Gate) {
	if edge.Ready {
		gates = append(gates, reconcile.Ready)
	}
	if edge.Asked {
		part := s.part(name)
		part.Upstream = edge.Upstream
		gates = append(gates, func(ctx context.Context, _ *reconcile.Component) (open bool, err error) {
			err = s.call(ctx, wire.Gate, part, &open)
			return open, err
		})
	}
	return gates
}

// component is a component whose objects a version has rendered, or renders when its turn has come.
type component struct {
	session *session
	told    *wire.Component
	kinds   []wire.Kind
}

// Build implements reconcile.Builder.
func (b *component) Build(ctx context.Context, _ *reconcile.Session, c *reconcile.Component) error {
	if b.told.Problem != nil {
		return b.told.Problem.Err()
	}
	objects, kinds := b.told.Objects, b.kinds
	if b.told.Built {
		var rendered wire.Objects
		if err := b.session.call(ctx, wire.Render, b.session.part(b.told.Name), &rendered); err != nil {
			return err
		}
		objects, kinds = rendered.Objects, rendered.Kinds
	}
	gvks := make([]schema.GroupVersionKind, len(kinds))
	for i, kind := range kinds {
		gvks[i] = kind.GVK()
	}
	for i := range objects {
		if err := b.add(c, &objects[i], gvks); err != nil {
			return err
		}
	}
	return nil
}

func (b *component) add(c *reconcile.Component, told *wire.Object, kinds []schema.GroupVersionKind) error {
	options := []reconcile.ObjectOption{reconcile.Finished()}
	part := b.session.part(b.told.Name)
	part.Object = told.Name
	if told.Judged {
		options = append(options, reconcile.ReadyWhen(func(ctx context.Context, live *unstructured.Unstructured) error {
			judged := part
			judged.Live = live.Object
			return b.session.call(ctx, wire.Judge, judged, nil)
		}))
	}
	if told.Content != nil {
		c.Add(told.Name, &unstructured.Unstructured{Object: told.Content}, options...)
		return nil
	}
	if told.Kind < 0 || told.Kind >= len(kinds) {
		return fmt.Errorf("version %s: object %s: has no kind", b.session.life.version.name, told.Name)
	}
	c.Add(told.Name, reconcile.Deferred{
		Ref:    deploy.Ref{Kind: kinds[told.Kind], Namespace: told.Namespace, Name: told.Ref},
		Digest: b.session.instance + strconv.FormatUint(told.Digest, 36),
		Content: func(ctx context.Context) (*unstructured.Unstructured, error) {
			content := map[string]any{}
			err := b.session.call(ctx, wire.Content, part, &content)
			return &unstructured.Unstructured{Object: content}, err
		},
	}, options...)
	return nil
}
