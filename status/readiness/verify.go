package readiness

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Target names an object to verify.
type Target struct {
	schema.GroupVersionKind
	// Name is the name of the object.
	Name string
	// Namespace is the namespace of the object. nil means the namespace argument of Verify. A pointer to the empty
	// string means a cluster-scoped object.
	Namespace *string
}

// Verify reads the target with get and judges it as At does. get returns an object in one of the forms that Of takes,
// or nil if there is none. For a cluster-scoped kind, get is called with an empty namespace. The argument namespace is
// used if the target has no Namespace. If get returns nil, an empty object or the API server's NotFound, the result is
// NotFound and has the name of the target. If get fails in another way, Verify returns an error that names the target
// and wraps the error of get.
func (c Checker) Verify(
	ctx context.Context, now time.Time,
	get func(ctx context.Context, kind schema.GroupVersionKind, namespace, name string) (any, error),
	target Target, namespace string,
) (Result, error) {
	if target.Namespace != nil {
		namespace = *target.Namespace
	}
	name := Object{target.Group, target.Kind, namespace, target.Name}
	object, err := get(ctx, target.GroupVersionKind, namespace, target.Name)
	if apierrors.IsNotFound(err) {
		object, err = nil, nil
	}
	if err != nil {
		return Result{}, fmt.Errorf("%s: read the object to verify: %w", name, err)
	}
	result := c.At(now, object)
	if result.State == NotFound {
		result.Object = name
	}
	return result, nil
}
