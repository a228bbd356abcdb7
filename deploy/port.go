package deploy

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Cluster is what a Manager works on: the requests and the reads of one cluster.
type Cluster interface {
	// Port returns the requests, View the reads of the cluster.
	Port() Port
	View() View
}

// Port sends requests to a cluster: each method is one request, or none when the answer is known (Scope). Nothing is
// sent again on a conflict. Errors that a caller branches on are those of this package. Implementations are safe for
// concurrent use, and neither keep nor change their arguments; what they return belongs to the caller.
type Port interface {
	// Scope returns whether objects of kind live in namespaces. A kind that the cluster doesn't serve is a
	// *KindUnknownError.
	Scope(ctx context.Context, kind schema.GroupVersionKind) (Scope, error)
	// Get reads the object from the cluster itself, past any cache. As in a View, an absent object is nil without an
	// error.
	Get(ctx context.Context, ref Ref) (*unstructured.Unstructured, error)
	// List reads objects from the cluster itself, past any cache, ascending by namespace and name.
	// An empty namespace means all of them. Large lists are read in several requests.
	List(ctx context.Context, kind schema.GroupVersionKind, namespace string, options ListOptions) ([]*unstructured.Unstructured, error)
	// Kinds returns the kinds that name means, ascending, each in the preferred version of its group: those of that
	// kind, else those with this plural, singular or short name. No kinds are no error. If the cluster couldn't say all
	// that it serves there is an error beside the kinds that were found, since the name may mean others.
	Kinds(ctx context.Context, name string) ([]schema.GroupVersionKind, error)
	// Create creates an object, also by generateName. One that exists is an *AlreadyExistsError.
	Create(ctx context.Context, obj *unstructured.Unstructured, options CreateOptions) (*unstructured.Unstructured, error)
	// Update replaces an object under its resourceVersion, which must be set. One that has changed
	// is a *StaleError, an absent one a *NotFoundError.
	Update(ctx context.Context, obj *unstructured.Unstructured, options UpdateOptions) (*unstructured.Unstructured, error)
	// Apply sends obj as the whole intent of options.FieldManager, by server-side apply.
	Apply(ctx context.Context, obj *unstructured.Unstructured, options ApplyOptions) (Applied, error)
	// Patch changes an existing object and returns the new one.
	Patch(ctx context.Context, ref Ref, patch PatchRequest) (*unstructured.Unstructured, error)
	// Delete asks for the deletion of ref. It doesn't wait for finalizers. An absent object
	// is a *NotFoundError, another uid than the one asked for a *StaleError.
	Delete(ctx context.Context, ref Ref, options DeleteOptions) error
}

// Scope says where the objects of a kind live.
type Scope string

// The scopes of a kind.
const (
	Namespaced    Scope = "Namespaced"
	ClusterScoped Scope = "Cluster"
)

// ApplyOptions go with one server-side apply.
type ApplyOptions struct {
	// FieldManager is whose intent it is.
	FieldManager string
	// Force takes fields over from other managers; without it they are a *ConflictError.
	Force bool
	// DryRun stores nothing.
	DryRun bool
	// Whole asks for the whole object also where metadata would do, see Applied.Partial.
	Whole bool
}

// CreateOptions go with one creation that isn't an apply.
type CreateOptions struct {
	// FieldManager is who owns the fields, DryRun stores nothing.
	FieldManager string
	DryRun       bool
}

// UpdateOptions go with one replacement of a whole object.
type UpdateOptions struct {
	// FieldManager is who owns the fields, DryRun stores nothing.
	FieldManager string
	DryRun       bool
}

// ListOptions say which objects are listed; nil selectors select all.
type ListOptions struct {
	// Labels and Fields select by what the objects have.
	Labels labels.Selector
	Fields fields.Selector
}

// Applied is the answer to an apply.
type Applied struct {
	// Object is as it is now.
	Object *unstructured.Unstructured
	// Created reports that the object didn't exist before.
	Created bool
	// Partial reports that Object has nothing but its metadata, see PartialView.
	Partial bool
	// Warnings are those of the cluster about the request, such as a deprecated kind.
	Warnings []string
}

// PatchRequest is a change of an existing object.
type PatchRequest struct {
	// Type says what Body is. Subresource is what is changed of the object, such as status; empty: all but that.
	Type        types.PatchType
	Body        []byte
	Subresource string
	// FieldManager is who owns the fields, DryRun stores nothing.
	FieldManager string
	DryRun       bool
}

// DeleteOptions go with one deletion.
type DeleteOptions struct {
	// UID is the precondition: only the object with this uid is deleted.
	UID types.UID
	// Propagation says what happens to the objects that ref owns; empty: Background.
	Propagation metav1.DeletionPropagation
	// DryRun deletes nothing.
	DryRun bool
}
