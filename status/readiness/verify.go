package readiness

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Target says which object is to be verified.
type Target struct {
	schema.GroupVersionKind
	// Name is the object's.
	Name string
	// Namespace is nil for the namespace of whoever verifies, and points to the
	// empty string for what is cluster-scoped.
	Namespace *string
}

// Getter reads an object: one of the forms that Of takes, nil when there is
// none. namespace is empty for what is cluster-scoped.
type Getter func(ctx context.Context, kind schema.GroupVersionKind, namespace, name string) (any, error)

// Verify reads an object through the caller's function and judges it as At
// does. namespace is that of the target when it names none. What get doesn't
// find (nil, an empty object, or the API server's NotFound) is NotFound, under
// the name of the target. A read that fails otherwise is an error, never a
// state: the error names the target and wraps what get gave.
func (c Checker) Verify(ctx context.Context, now time.Time, get Getter, target Target, namespace string) (Result, error) {
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
