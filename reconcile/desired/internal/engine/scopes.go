package engine

import (
	"context"
	"sync"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// scopes remembers which kinds are namespaced. The zero value is empty. It is safe for concurrent use.
type scopes struct{ known sync.Map }

// of returns the scope of a kind, Namespaced if it isn't known.
func (s *scopes) of(kind schema.GroupVersionKind) deploy.Scope {
	if known, ok := s.known.Load(kind); ok && !known.(bool) {
		return deploy.ClusterScoped
	}
	return deploy.Namespaced
}

func (s *scopes) isNamespaced(ctx context.Context, port deploy.Port, kind schema.GroupVersionKind) (bool, error) {
	if known, ok := s.known.Load(kind); ok {
		return known.(bool), nil
	}
	scope, err := port.Scope(ctx, kind)
	if err == nil {
		s.known.Store(kind, scope == deploy.Namespaced)
	}
	return scope == deploy.Namespaced, err
}
