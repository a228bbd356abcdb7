package admission

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/internal/typed"
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Request is a request to the API server, for one call of a Func. Don't use it after the function has returned. Its
// methods aren't safe for concurrent use.
type Request[T any] struct {
	// Ref names the object. The name is empty if the API server has yet to generate it.
	Ref deploy.Ref
	// Object is the object as it would be stored; nil for Delete, and for subresources that have objects of another
	// kind, such as scale: see Content.
	Object *T
	// Old is the object as it is stored; nil for Create and Connect, and if T can't hold it.
	Old *T
	// Operation is what the request does, and Subresource to what, empty for the object itself.
	Operation   Operation
	Subresource string
	// User is the sender of the request.
	User authenticationv1.UserInfo
	// DryRun: nothing will be stored. The function must have no effects elsewhere.
	DryRun bool

	call *call
	// before is the object as it was decoded, which run compares with Object. It is nil for validators, whose changes
	// don't count.
	before *T
}

// newRequest returns the Request of a call. An object that T can't hold is a mistake of the sender, and denied.
func newRequest[T any](kind schema.GroupVersionKind, c *call) (*Request[T], error) {
	asked := c.request
	r := &Request[T]{
		Ref:       deploy.Ref{Kind: kind, Namespace: asked.Namespace, Name: asked.Name},
		Operation: asked.Operation, Subresource: asked.SubResource, User: asked.UserInfo,
		DryRun: asked.DryRun != nil && *asked.DryRun, call: c,
	}
	if isOf(kind, c.old) {
		old, err := typed.Decode[T](c.old)
		if err != nil {
			c.logger.Warn("the object as it is stored can't be read: Request.Old is nil", "object", r.Ref.String(), "error", err)
		}
		r.Old = old
	}
	if !isOf(kind, c.object) {
		return r, nil
	}
	object, err := typed.Decode[T](c.object)
	if err != nil {
		return nil, Deny("%w", err)
	}
	if r.Object = object; c.mutating {
		r.before, err = typed.Decode[T](c.object)
	}
	return r, err
}

// isOf reports whether content is an object of a kind.
func isOf(kind schema.GroupVersionKind, content map[string]any) bool {
	return content != nil && (&unstructured.Unstructured{Object: content}).GroupVersionKind() == kind
}

// run calls f and returns the content of the object as f leaves it, nil if f changes nothing.
func (r *Request[T]) run(ctx context.Context, f Func[T]) (map[string]any, error) {
	if err := failure.Guard(func() error { return f(ctx, r) }); err != nil {
		return nil, err
	}
	if r.before == nil {
		return nil, nil
	}
	if r.Object == nil {
		return nil, fmt.Errorf("%s: the function has set Request.Object to nil: change the object that it points to", r.Ref)
	}
	patch, err := typed.Encode(r.before, r.Object)
	if err != nil || len(patch) == 0 {
		return nil, err
	}
	return typed.Apply(r.call.object, patch)
}

// Warn adds a warning for the sender of the request, such as about a field that is deprecated. kubectl prints it.
// Keep it below 120 characters. Warnings are answered whether the request is allowed or denied.
func (r *Request[T]) Warn(format string, args ...any) {
	r.call.warnings = append(r.call.warnings, fmt.Sprintf(format, args...))
}

// Content returns the whole object of the request, with the fields that T doesn't have, as functions before this one
// have left it; for a subresource it may be of another kind, such as Scale. It is a copy, nil for Delete.
func (r *Request[T]) Content() map[string]any { return runtime.DeepCopyJSON(r.call.object) }

// OldContent is Content for the object as it is stored.
func (r *Request[T]) OldContent() map[string]any { return runtime.DeepCopyJSON(r.call.old) }

// Options returns the options of the request, such as a CreateOptions with its fieldManager, nil without any. It is a
// copy.
func (r *Request[T]) Options() map[string]any { return runtime.DeepCopyJSON(r.call.options) }

// Logger returns a logger that names the object and the function.
func (r *Request[T]) Logger() *slog.Logger { return r.call.logger }
