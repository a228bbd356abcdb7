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
	// Name is the object's.
	Name string
	// Namespace is nil for the namespace that Verify is given, and points to the empty string for a cluster-scoped
	// object.
	Namespace *string
}

// Verify reads an object through the caller's function and judges it as At does. get returns one of the forms that Of
// takes, nil when there is no object; its namespace is empty for a cluster-scoped kind. namespace is that of the target
// when it names none. An object that get doesn't find (nil, an empty object, or the API server's NotFound) is NotFound,
// under the name of the target. Another failed read is an error, never a state: it names the target and wraps the error
// of get.
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
		return Result{}, fmt.Errorf("%s: read for its readiness: %w", name, err)
	}
	result := c.At(now, object)
	if result.State == NotFound {
		result.Object = name
	}
	return result, nil
}
