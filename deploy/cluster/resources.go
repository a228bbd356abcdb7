package cluster

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/operkit/operkit/deploy"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// resources knows under which name and in which scope a kind is served. It asks for one
// group and version at a time, when a kind of it is first needed, and again whenever a kind
// isn't known: CustomResourceDefinitions come and go.
type resources struct {
	requests *requests
	known    sync.Map // schema.GroupVersionKind -> resource
}

type resource struct {
	schema.GroupVersionResource
	scope deploy.Scope
}

func (r *resources) of(ctx context.Context, kind schema.GroupVersionKind) (resource, error) {
	if found, ok := r.known.Load(kind); ok {
		return found.(resource), nil
	}
	served, err := r.requests.discover(ctx, kind.GroupVersion())
	var absent *deploy.NotFoundError
	if errors.As(err, &absent) {
		return resource{}, &deploy.KindUnknownError{Kind: kind}
	}
	if err != nil {
		return resource{}, err
	}
	for _, entry := range served.APIResources {
		if !strings.Contains(entry.Name, "/") {
			r.known.Store(kind.GroupVersion().WithKind(entry.Kind), resource{
				GroupVersionResource: kind.GroupVersion().WithResource(entry.Name),
				scope:                scopeOf(entry),
			})
		}
	}
	if found, ok := r.known.Load(kind); ok {
		return found.(resource), nil
	}
	return resource{}, &deploy.KindUnknownError{Kind: kind}
}

// forget drops what is known of a kind that answered 404 as a whole.
func (r *resources) forget(kind schema.GroupVersionKind) { r.known.Delete(kind) }

func scopeOf(entry metav1.APIResource) deploy.Scope {
	if entry.Namespaced {
		return deploy.Namespaced
	}
	return deploy.ClusterScoped
}
