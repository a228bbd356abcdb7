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

// Cluster is a cluster for a Manager.
type Cluster interface {
	// Port returns the Port that sends requests to the cluster. View returns the View that reads from the cluster.
	Port() Port
	View() View
}

// Port sends requests to a cluster. Each method sends one request. List may send several, and Scope sends none if the
// result is known. A request isn't sent again after a conflict. Errors that a caller branches on are of the error types
// of this package. Implementations are safe for concurrent use, and neither keep nor change their arguments. Results
// belong to the caller.
type Port interface {
	// Scope returns whether kind is namespaced or cluster-scoped. It returns a *KindUnknownError if the cluster doesn't
	// serve the kind.
	Scope(ctx context.Context, kind schema.GroupVersionKind) (Scope, error)
	// Get reads the object from the cluster itself, past any cache. Like View.Get, it returns nil without an error if
	// the object is absent.
	Get(ctx context.Context, ref Ref) (*unstructured.Unstructured, error)
	// List reads objects from the cluster itself, past any cache, ascending by namespace and name. An empty namespace
	// means all namespaces. A large list is read in several requests.
	List(ctx context.Context, kind schema.GroupVersionKind, namespace string, options ListOptions) ([]*unstructured.Unstructured, error)
	// Kinds returns the kinds that name may mean, ascending, each in the preferred version of its group. These are the
	// kinds with this Kind. If there are none, these are the kinds with this plural, singular or short name. If there
	// are none either, Kinds returns no kinds and no error. If a part of discovery failed, it returns an error together
	// with the kinds that were found, because name may mean other kinds, too.
	Kinds(ctx context.Context, name string) ([]schema.GroupVersionKind, error)
	// Create creates an object, which may have a generateName instead of a name. If the object exists, the error is an
	// *AlreadyExistsError.
	Create(ctx context.Context, obj *unstructured.Unstructured, options CreateOptions) (*unstructured.Unstructured, error)
	// Update replaces an object. The resourceVersion of obj must be set and is the precondition: if the object has
	// changed, the error is a *StaleError. If the object is absent, the error is a *NotFoundError.
	Update(ctx context.Context, obj *unstructured.Unstructured, options UpdateOptions) (*unstructured.Unstructured, error)
	// Apply sends obj as the whole intent of options.FieldManager, by server-side apply.
	Apply(ctx context.Context, obj *unstructured.Unstructured, options ApplyOptions) (Applied, error)
	// Patch changes an existing object and returns the result.
	Patch(ctx context.Context, ref Ref, patch PatchRequest) (*unstructured.Unstructured, error)
	// Delete requests the deletion of ref. It doesn't wait for finalizers. If the object is absent, the error is a
	// *NotFoundError. If the object has another uid than options.UID, the error is a *StaleError.
	Delete(ctx context.Context, ref Ref, options DeleteOptions) error
}

// Scope is the scope of a kind.
type Scope string

// The scopes of a kind.
const (
	Namespaced    Scope = "Namespaced"
	ClusterScoped Scope = "Cluster"
)

// ApplyOptions are the options of a server-side apply.
type ApplyOptions struct {
	// FieldManager is the manager whose intent is applied.
	FieldManager string
	// Force takes over contested fields from other managers. Without Force, the error for contested fields is a
	// *ConflictError.
	Force bool
	// DryRun stores nothing.
	DryRun bool
	// Subresource is the subresource to apply, such as status. It is empty for the object itself. An apply of a
	// subresource doesn't create an object: if the object is absent, or its kind doesn't have the subresource, the
	// error is a *NotFoundError.
	Subresource string
	// Whole requests the whole object, even if the implementation would otherwise return only metadata
	// (Applied.Partial).
	Whole bool
}

// CreateOptions are the options of a creation by POST.
type CreateOptions struct {
	// FieldManager owns the fields afterwards. DryRun stores nothing.
	FieldManager string
	DryRun       bool
}

// UpdateOptions are the options of a replacement by PUT.
type UpdateOptions struct {
	// FieldManager owns the fields afterwards. DryRun stores nothing.
	FieldManager string
	DryRun       bool
}

// ListOptions select the objects of a list. A nil selector selects all objects.
type ListOptions struct {
	// Labels and Fields select by labels and by fields.
	Labels labels.Selector
	Fields fields.Selector
}

// Applied is the result of an apply.
type Applied struct {
	// Object is the object after the apply.
	Object *unstructured.Unstructured
	// Created reports that the object didn't exist before.
	Created bool
	// Partial reports that Object has only metadata, see PartialView.
	Partial bool
	// Warnings are the cluster's warnings about the request, such as about a deprecated kind.
	Warnings []string
}

// PatchRequest is a change of an existing object.
type PatchRequest struct {
	// Type is the type of the patch in Body. Subresource is the subresource to change, such as status. It is empty for
	// the object itself.
	Type        types.PatchType
	Body        []byte
	Subresource string
	// FieldManager owns the fields afterwards. DryRun stores nothing.
	FieldManager string
	DryRun       bool
}

// DeleteOptions are the options of a deletion.
type DeleteOptions struct {
	// UID is the precondition: only the object with this uid is deleted.
	UID types.UID
	// Propagation sets what happens to the objects that the deleted object owns. Empty means Background.
	Propagation metav1.DeletionPropagation
	// DryRun deletes nothing.
	DryRun bool
}
