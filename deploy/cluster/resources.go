package cluster

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// absentMemory is how long the response that a kind isn't served is reused. So a hundred objects of such a kind cost
// one request, and a new kind is still found quickly.
const absentMemory = 500 * time.Millisecond

// resources caches the resource and the scope of each kind. It discovers one group and version at a time: when one of
// its kinds is first needed, when a kind is unknown, and when the response to a request shows that the kind isn't
// served any more. CustomResourceDefinitions may come, go and change.
type resources struct {
	requests *requests
	now      func() time.Time

	mu       sync.RWMutex
	versions map[schema.GroupVersion]*served
}

// served is the cached discovery of one group and version.
type served struct {
	// asking has a value while a request is in flight. Other callers wait until it has ended, as long as their contexts
	// allow.
	asking chan struct{}
	// kinds are the resources by kind. The map is only replaced as a whole. asked is the time of the last request. Both
	// are guarded by resources.mu.
	kinds map[string]resource
	asked time.Time
}

type resource struct {
	schema.GroupVersionResource
	scope deploy.Scope
}

func newResources(requests *requests) *resources {
	return &resources{requests: requests, now: time.Now, versions: map[schema.GroupVersion]*served{}}
}

// of returns the resource that serves kind, or a *deploy.KindUnknownError.
func (r *resources) of(ctx context.Context, kind schema.GroupVersionKind) (resource, error) {
	if found, ok := r.known(kind); ok {
		return found, nil
	}
	return r.ask(ctx, kind, r.now().Add(-absentMemory))
}

func (r *resources) known(kind schema.GroupVersionKind) (resource, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	version, ok := r.versions[kind.GroupVersion()]
	if !ok {
		return resource{}, false
	}
	found, ok := version.kinds[kind.Kind]
	return found, ok
}

// ask returns the resource that serves kind, like the method of. It ignores responses to requests that began before the
// time since.
func (r *resources) ask(ctx context.Context, kind schema.GroupVersionKind, since time.Time) (resource, error) {
	version := r.version(kind.GroupVersion())
	select {
	case version.asking <- struct{}{}:
	case <-ctx.Done():
		return resource{}, unanswered(ctx, ctx.Err(), discovery(kind.GroupVersion()))
	}
	defer func() { <-version.asking }()
	if r.askedBefore(version, since) {
		began := r.now()
		kinds, err := r.discover(ctx, kind.GroupVersion())
		if err != nil {
			return resource{}, err
		}
		r.mu.Lock()
		version.kinds, version.asked = kinds, began
		r.mu.Unlock()
	}
	if found, ok := r.known(kind); ok {
		return found, nil
	}
	return resource{}, &deploy.KindUnknownError{Kind: kind}
}

func (r *resources) version(of schema.GroupVersion) *served {
	r.mu.Lock()
	defer r.mu.Unlock()
	version, ok := r.versions[of]
	if !ok {
		version = &served{asking: make(chan struct{}, 1)}
		r.versions[of] = version
	}
	return version
}

func (r *resources) askedBefore(version *served, since time.Time) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return version.asked.Before(since)
}

// forget invalidates the responses for unknown kinds, for example after a change of CustomResourceDefinitions. The next
// call for an unknown kind asks the API server.
func (r *resources) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, version := range r.versions {
		version.asked = time.Time{}
	}
}

// discover returns the resources of one group and version, by kind. It returns none if the version isn't served.
func (r *resources) discover(ctx context.Context, version schema.GroupVersion) (map[string]resource, error) {
	list := &metav1.APIResourceList{}
	err := r.requests.discover(ctx, discovery(version), list)
	if _, absent := errors.AsType[*deploy.NotFoundError](err); absent {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	kinds := make(map[string]resource, len(list.APIResources))
	for _, entry := range list.APIResources {
		if !isSubresource(entry) {
			kinds[entry.Kind] = resource{GroupVersionResource: version.WithResource(entry.Name), scope: scopeOf(entry.Namespaced)}
		}
	}
	return kinds, nil
}

// on calls send with the resource that serves kind. If that resource isn't served any more, it asks the API server, and
// calls send once more if another resource serves the kind now.
func on[T any](ctx context.Context, r *resources, kind schema.GroupVersionKind, send func(resource) (T, error)) (T, error) {
	found, err := r.of(ctx, kind)
	if err != nil {
		return *new(T), err
	}
	began := r.now()
	result, err := send(found)
	if !nothingServed(err) {
		return result, err
	}
	current, failure := r.ask(ctx, kind, began)
	if failure != nil {
		return *new(T), failure
	}
	if current == found {
		return result, err
	}
	return send(current)
}

func isSubresource(entry metav1.APIResource) bool { return strings.Contains(entry.Name, "/") }

func scopeOf(namespaced bool) deploy.Scope {
	if namespaced {
		return deploy.Namespaced
	}
	return deploy.ClusterScoped
}
