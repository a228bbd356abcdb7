package versions

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/logging"
	"github.com/operkit/operkit/reconcile/versions/internal/wire"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// channel is the attribute of a logger by which levels of single channels go.
const channel = logging.Channel

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
	kind := wire.NewKind(c.union.kind)
	if l.said.Ruled(kind) == nil {
		return nil, nil, reconcile.Configuration("version %s doesn't know the kind %s", v.name, c.union.kind.Kind)
	}
	if !local.DryRun() {
		c.pool.reside(deploy.Ref{Kind: local.Kind(), Namespace: local.Namespace(), Name: local.Name()}, v)
	}
	resource := local.Resource()
	unstructured.RemoveNestedField(resource.Object, "metadata", "managedFields") // they are long and nobody's business
	var described wire.Described
	err = s.call(ctx, wire.Setup, wire.Session{
		ID: local.ID(), Kind: kind, Resource: resource.Object, Version: local.Version(), DryRun: local.DryRun(), Level: int(sessionLevel(local, resource)),
	}, &described)
	if err == nil && described.Instance == "" {
		err = fmt.Errorf("version %s: its answer doesn't say which process it is: what it says of the resource isn't believed", v.name)
	}
	s.instance = described.Instance
	return s, &described, reconcile.Verbatim(err)
}

// sessionLevel is the lowest level of lines that may be logged of a session: all where single channels have levels of their own.
func sessionLevel(s *reconcile.Session, resource *unstructured.Unstructured) slog.Level {
	if resource.GetAnnotations()[s.Manager().KeyDomain()+"/log-filters"] != "" {
		return slog.LevelDebug
	}
	return levelOf(s.Logger())
}

// call asks the version. That it is gone is an error that passes: it is started again.
func (s *session) call(ctx context.Context, method string, body, target any) error {
	s.life.version.count(method)
	err := s.life.peer.Call(ctx, method, body, target)
	if errors.Is(err, wire.ErrGone) {
		err = s.life.because(err)
		select {
		case <-s.life.over: // so that it is known when the next one may start
		case <-ctx.Done():
		}
		return s.life.version.gone(err)
	}
	return err
}

// end tells the version that the session has ended.
func (s *session) end() {
	// One that is gone has forgotten it.
	_ = s.life.peer.Notify(wire.Release, s.local.ID())
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
