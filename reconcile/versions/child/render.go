package child

import (
	"context"
	"fmt"
	"slices"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/versions/internal/wire"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// objects returns the finished objects of a component.
func (s *server) objects(ctx context.Context, one *session, c *reconcile.Component, kinds *kindList) ([]wire.Object, error) {
	rendered, err := one.Render(ctx, c)
	if err != nil {
		return nil, err
	}
	sent := make([]wire.Object, len(rendered))
	for i, object := range rendered {
		ref := deploy.RefOf(object.Content)
		digest, ok := deploy.Fingerprint(object.Content.Object)
		sent[i] = wire.Object{
			Name: object.Object.Name(), Kind: kinds.number(ref.Kind), Namespace: ref.Namespace, Ref: ref.Name, Digest: digest,
		}
		switch {
		case object.Judge == nil:
		case object.And:
			sent[i].Judged = wire.JudgedToo
		default:
			sent[i].Judged = wire.JudgedAlone
		}
		if !ok || ref.Name == "" || isDefinition(ref.Kind) {
			sent[i].Content = object.Content.Object
		}
	}
	one.mu.Lock()
	defer one.mu.Unlock()
	one.rendered[c.Name()] = rendered
	return sent, nil
}

// isDefinition reports whether the manager needs the content of objects of a kind, because other objects depend on that
// content.
func isDefinition(kind schema.GroupVersionKind) bool { return kind.Group == "apiextensions.k8s.io" }

// kindList numbers kinds.
type kindList []wire.Kind

func (l *kindList) number(kind schema.GroupVersionKind) int {
	k := wire.NewKind(kind)
	if number := slices.Index(*l, k); number >= 0 {
		return number
	}
	*l = append(*l, k)
	return len(*l) - 1
}

// part returns a component.
func (s *server) part(b wire.Part) (*session, *reconcile.Component, error) {
	one, err := s.sessions.of(b.Session)
	if err != nil {
		return nil, nil, err
	}
	c := one.Session().Component(b.Component)
	if c == nil {
		return nil, nil, fmt.Errorf("component %s: not found", b.Component)
	}
	return one, c, nil
}

// render returns the objects that the Builder of a component adds.
func (s *server) render(ctx context.Context, b wire.Part) (*wire.Objects, error) {
	one, c, err := s.part(b)
	if err != nil {
		return nil, err
	}
	var kinds kindList
	objects, err := s.objects(withSession(ctx, b.Session), one, c, &kinds)
	return &wire.Objects{Kinds: kinds, Objects: objects}, err
}

// object returns an object that was rendered.
func (s *server) object(b wire.Part) (*session, reconcile.Rendered, error) {
	one, err := s.sessions.of(b.Session)
	if err != nil {
		return nil, reconcile.Rendered{}, err
	}
	one.mu.Lock()
	defer one.mu.Unlock()
	rendered := one.rendered[b.Component]
	at := slices.IndexFunc(rendered, func(r reconcile.Rendered) bool { return r.Object.Name() == b.Object })
	if at < 0 {
		return nil, reconcile.Rendered{}, fmt.Errorf("object %s.%s: not found", b.Component, b.Object)
	}
	return one, rendered[at], nil
}

// content returns the content of one object.
func (s *server) content(b wire.Part) (map[string]any, error) {
	_, object, err := s.object(b)
	if err != nil {
		return nil, err
	}
	return object.Content.Object, nil
}

// gate calls the gates of one dependency, except reconcile.Ready, which the manager evaluates itself.
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

// judge calls the Judge of an object.
func (s *server) judge(ctx context.Context, b wire.Part) (any, error) {
	one, object, err := s.object(b)
	if err != nil || object.Judge == nil {
		return nil, err
	}
	return nil, object.Judge(one.Context(withSession(ctx, b.Session)), &unstructured.Unstructured{Object: b.Live})
}
