package child

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/operkit/operkit/dag"
	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/versions/internal/wire"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// sessions are those that the manager has begun and not released.
type sessions struct {
	mu   sync.Mutex
	open map[string]*session
}

// session is one of them.
type session struct {
	*ruled
	*reconcile.Description

	mu sync.Mutex
	// rendered are the objects of components, by the names of both.
	rendered map[string]map[string]reconcile.Rendered
}

func (s *sessions) add(id string, one *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = map[string]*session{}
	}
	s.open[id] = one
}

func (s *sessions) of(id string) (*session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one, ok := s.open[id]; ok {
		return one, nil
	}
	return nil, fmt.Errorf("session %s: there is none: it was released, or never set up", id)
}

func (s *sessions) release(id string) {
	s.mu.Lock()
	one := s.open[id]
	delete(s.open, id)
	s.mu.Unlock()
	if one != nil {
		one.Release()
	}
}

// setup has a controller describe a resource.
func (s *server) setup(ctx context.Context, b wire.Session) (*wire.Described, error) {
	r, err := s.kind(b.Kind)
	if err != nil {
		return nil, err
	}
	description, err := r.reconciler.Describe(withSession(ctx, b.ID), &unstructured.Unstructured{Object: b.Resource}, reconcile.Describing{
		ID: b.ID, Version: b.Version, DryRun: b.DryRun, Logger: s.logger.With(slog.String(sessionKey, b.ID)),
	})
	if err != nil {
		return nil, err
	}
	one := &session{ruled: r, Description: description, rendered: map[string]map[string]reconcile.Rendered{}}
	if err := one.refuse(); err != nil {
		one.Release()
		return nil, err
	}
	s.sessions.add(b.ID, one)
	described := &wire.Described{Instance: s.instance}
	kinds := kindList{}
	for _, c := range description.Session().Components() {
		described.Components = append(described.Components, s.component(withSession(ctx, b.ID), one, c, &kinds))
	}
	described.Kinds = kinds.kinds
	return described, nil
}

// refuse tells of components that do more than render.
func (one *session) refuse() error {
	for _, c := range one.Session().Components() {
		builder := one.Builder(c)
		method := ""
		switch builder.(type) {
		case reconcile.Deployer:
			method = "Deploy"
		case reconcile.Verifier:
			method = "Verify"
		case reconcile.Disabler:
			method = "Disable"
		default:
			continue
		}
		return reconcile.WithClass(reconcile.OfRollout, fmt.Errorf("component %s: %T has a method %s, but this version runs as a child, which renders only: "+
			"let the rollout do it, or use ReadyWhen, gates and hooks", c.Name(), builder, method))
	}
	return nil
}

// component is one component as it is told, with its objects unless a Builder makes them when its turn has come.
func (s *server) component(ctx context.Context, one *session, c *reconcile.Component, kinds *kindList) wire.Component {
	told := wire.Component{Name: c.Name(), Disabled: c.Disabled(), Built: one.Builder(c) != nil}
	for _, dependency := range one.Dependencies(c) {
		edge := wire.Edge{Upstream: dependency.Upstream.Name()}
		for _, gate := range dependency.Gates {
			switch {
			case isGate(gate, reconcile.Ready):
				edge.Ready = true
			case !isGate(gate, reconcile.Deployed):
				edge.Asked = true
			}
		}
		told.After = append(told.After, edge)
	}
	if !told.Built {
		var err error
		told.Objects, err = s.objects(ctx, one, c, kinds)
		told.Problem = wire.NewProblem(err)
	}
	return told
}

// isGate tells whether two gates are one function.
func isGate(a, b reconcile.Gate) bool {
	return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
}

// objects are the finished objects of a component.
func (s *server) objects(ctx context.Context, one *session, c *reconcile.Component, kinds *kindList) ([]wire.Object, error) {
	rendered, err := one.Render(ctx, c)
	if err != nil {
		return nil, err
	}
	byName := make(map[string]reconcile.Rendered, len(rendered))
	told := make([]wire.Object, len(rendered))
	for i, object := range rendered {
		ref := deploy.RefOf(object.Content)
		byName[object.Object.Name()] = object
		told[i] = wire.Object{
			Name: object.Object.Name(), Kind: kinds.number(ref.Kind), Namespace: ref.Namespace, Ref: ref.Name, Judged: object.Judge != nil,
		}
		digest, ok := deploy.Fingerprint(object.Content.Object)
		if told[i].Digest = digest; !ok || ref.Name == "" || isDefinition(ref.Kind) {
			told[i].Content = object.Content.Object
		}
	}
	one.mu.Lock()
	defer one.mu.Unlock()
	one.rendered[c.Name()] = byName
	return told, nil
}

// isDefinition tells of the kinds that the manager needs whole: others depend on their content.
func isDefinition(kind schema.GroupVersionKind) bool { return kind.Group == "apiextensions.k8s.io" }

// kindList numbers kinds.
type kindList struct{ kinds []wire.Kind }

func (l *kindList) number(kind schema.GroupVersionKind) int {
	k := wire.NewKind(kind)
	if at := slices.Index(l.kinds, k); at >= 0 {
		return at
	}
	l.kinds = append(l.kinds, k)
	return len(l.kinds) - 1
}

func (s *server) part(b wire.Part) (*session, *reconcile.Component, error) {
	one, err := s.sessions.of(b.Session)
	if err != nil {
		return nil, nil, err
	}
	c := one.Session().Component(b.Component)
	if c == nil {
		return nil, nil, fmt.Errorf("component %s: there is none", b.Component)
	}
	return one, c, nil
}

// renderPart has a Builder make the objects of a component.
func (s *server) renderPart(ctx context.Context, b wire.Part) (*wire.Objects, error) {
	one, c, err := s.part(b)
	if err != nil {
		return nil, err
	}
	kinds := kindList{}
	objects, err := s.objects(withSession(ctx, b.Session), one, c, &kinds)
	return &wire.Objects{Kinds: kinds.kinds, Objects: objects}, err
}

func (s *server) object(b wire.Part) (*session, reconcile.Rendered, error) {
	one, err := s.sessions.of(b.Session)
	if err != nil {
		return nil, reconcile.Rendered{}, err
	}
	one.mu.Lock()
	defer one.mu.Unlock()
	object, ok := one.rendered[b.Component][b.Object]
	if !ok {
		err = fmt.Errorf("object %s.%s: there is none", b.Component, b.Object)
	}
	return one, object, err
}

// content is the content of one object.
func (s *server) content(_ context.Context, b wire.Part) (map[string]any, error) {
	_, object, err := s.object(b)
	if err != nil {
		return nil, err
	}
	return object.Content.Object, nil
}

// gate asks the gates of one dependency that the manager doesn't know by itself.
func (s *server) gate(ctx context.Context, b wire.Part) (bool, error) {
	one, c, err := s.part(b)
	if err != nil {
		return false, err
	}
	ctx = one.Context(withSession(ctx, b.Session))
	for _, dependency := range one.Dependencies(c) {
		if dependency.Upstream.Name() != b.Upstream {
			continue
		}
		for _, gate := range dependency.Gates {
			if isGate(gate, reconcile.Ready) || isGate(gate, reconcile.Deployed) {
				continue
			}
			if open, err := gate(ctx, dependency.Upstream); !open || err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

// judge says whether an object is ready.
func (s *server) judge(ctx context.Context, b wire.Part) error {
	one, object, err := s.object(b)
	if err != nil {
		return err
	}
	return object.Judge(one.Context(withSession(ctx, b.Session)), &unstructured.Unstructured{Object: b.Live})
}

// guarded calls what may panic.
func guarded(do func()) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &dag.PanicError{Value: value, Stack: debug.Stack()}
		}
	}()
	do()
	return nil
}
