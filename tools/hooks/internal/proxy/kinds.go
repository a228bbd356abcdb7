package proxy

import (
	"context"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// kindsLast is how long discovered kinds are kept, and unknownLasts how long a resource stays unknown.
	kindsLast    = time.Minute
	unknownLasts = 500 * time.Millisecond
)

// kinds finds the kind that a resource serves. It discovers all kinds, when one is unknown and when those that it knows
// are old. It is safe for concurrent use.
type kinds struct {
	discover func(ctx context.Context) ([]deploy.ServedKind, error)

	// asking has a value while a discovery is under way.
	asking chan struct{}
	mu     sync.RWMutex
	known  map[schema.GroupVersionResource]schema.GroupVersionKind
	at     time.Time
	// failed is why some kinds are missing, nil if none are.
	failed error
}

func newKinds(of *cluster.Cluster) *kinds {
	return &kinds{asking: make(chan struct{}, 1), discover: func(ctx context.Context) ([]deploy.ServedKind, error) {
		return of.View().(deploy.KindView).Kinds(ctx) //nolint:forcetypeassert // the View of a cluster is one
	}}
}

// of returns the kind of a resource. Without an error, ok is false if the API server doesn't serve the resource.
func (k *kinds) of(ctx context.Context, resource schema.GroupVersionResource) (kind schema.GroupVersionKind, ok bool, err error) {
	if kind, ok, sure, err := k.look(resource); sure {
		return kind, ok, err
	}
	select {
	case k.asking <- struct{}{}:
	case <-ctx.Done():
		return kind, false, context.Cause(ctx)
	}
	defer func() { <-k.asking }()
	if kind, ok, sure, err := k.look(resource); sure { // another call has discovered it meanwhile
		return kind, ok, err
	}
	now := time.Now()
	served, err := k.discover(ctx)
	k.mu.Lock()
	defer k.mu.Unlock()
	if err == nil || len(served) > 0 {
		k.known, k.at, k.failed = make(map[schema.GroupVersionResource]schema.GroupVersionKind, len(served)), now, err
		for _, one := range served {
			k.known[one.Kind.GroupVersion().WithResource(one.Resource)] = one.Kind
		}
	}
	if kind, ok = k.known[resource]; ok {
		return kind, true, nil
	}
	return kind, false, err
}

// look returns what is known of a resource. sure is false if that is too old.
func (k *kinds) look(resource schema.GroupVersionResource) (kind schema.GroupVersionKind, ok, sure bool, err error) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	age := time.Since(k.at)
	if kind, ok = k.known[resource]; ok {
		return kind, true, age < kindsLast, nil
	}
	return kind, false, age < unknownLasts, k.failed
}
