package child

import (
	"context"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/versions/internal/wire"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

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
func (s *server) judge(ctx context.Context, b wire.Part) (any, error) {
	one, object, err := s.object(b)
	if err != nil || object.Judge == nil {
		return nil, err
	}
	return nil, object.Judge(one.Context(withSession(ctx, b.Session)), &unstructured.Unstructured{Object: b.Live})
}
