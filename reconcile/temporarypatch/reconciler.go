package temporarypatch

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/smp"
	"github.com/operkit/operkit/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ReasonNotPatchable is the reason of the condition Applied of a patch whose target is of a kind that no operator
// patches: a kind that isn't served, or one of Kubernetes' own.
const ReasonNotPatchable = "NotPatchable"

// Reconciler reconciles patches whose target is of one of the Controller's kinds, and patches that still have the
// finalizer that it added. Patches for kinds of another operator are left to that operator: two operators must not
// write the status of one patch, or remove its finalizer. It is safe for concurrent use.
type Reconciler struct {
	*reconcile.Reconciler
	controller *Controller
}

// Reconciler returns the reconciler of the patches themselves, for an engine.
func (c *Controller) Reconciler(options ...reconcile.Option) (*Reconciler, error) {
	inner, err := reconcile.New(c, c.manager, options...)
	if err != nil {
		return nil, err
	}
	return &Reconciler{inner, c}, nil
}

// Reconcile brings the patch that req names to its target, if this Reconciler is responsible for the patch.
func (r *Reconciler) Reconcile(ctx context.Context, req request.Request) (request.Result, error) {
	c := r.controller
	ref := req.Key
	patch, err := c.manager.View().Get(ctx, ref)
	if err != nil || patch == nil {
		return request.Result{}, err
	}
	target := Target(patch).Kind
	if unnamed := target.Kind == "" || target.Version == ""; unnamed || c.controls(target.GroupKind()) || c.holds(patch) {
		return r.Reconciler.Reconcile(ctx, req)
	}
	foreign, err := c.foreign(ctx, target)
	if err != nil || foreign {
		return request.Result{}, err
	}
	return request.Result{}, c.refuse(ctx, ref, target)
}

// Target returns the resource that a patch names; fields that the patch doesn't have are empty.
func Target(patch *unstructured.Unstructured) deploy.Ref {
	apiVersion, _, _ := unstructured.NestedString(patch.Object, "spec", "apiVersion")
	kind, _, _ := unstructured.NestedString(patch.Object, "spec", "kind")
	name, _, _ := unstructured.NestedString(patch.Object, "spec", "name")
	version, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		version = schema.GroupVersion{Group: apiVersion}
	}
	return deploy.Ref{Kind: version.WithKind(kind), Namespace: patch.GetNamespace(), Name: name}
}

// controls reports whether this Controller patches a kind, in some version.
func (c *Controller) controls(kind schema.GroupKind) bool {
	for _, name := range c.kinds {
		at := strings.LastIndexByte(name, '/')
		if name[at+1:] != kind.Kind {
			continue
		}
		if at < 0 {
			return true
		}
		if version, err := schema.ParseGroupVersion(name[:at]); err == nil && version.Group == kind.Group {
			return true
		}
	}
	return false
}

// holds reports whether a patch that is being deleted waits for the finalizer that this operator put on it.
func (c *Controller) holds(patch *unstructured.Unstructured) bool {
	return patch.GetDeletionTimestamp() != nil && slices.ContainsFunc(patch.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Manager == c.manager.FieldManager() && entry.FieldsV1 != nil && strings.Contains(entry.FieldsV1.GetRawString(), `"f:finalizers"`)
	})
}

// foreign reports whether a kind that isn't the Controller's own may be another operator's: it is served, and
// isn't Kubernetes' own.
func (c *Controller) foreign(ctx context.Context, kind schema.GroupVersionKind) (bool, error) {
	if smp.SchemaFor(kind).Known() {
		return false, nil
	}
	_, err := c.manager.Port().Scope(ctx, kind)
	if failure.Is[*deploy.KindUnknownError](err) {
		return false, nil
	}
	return true, err
}

// refuse reports in the status of a patch that no operator patches the kind of its target. Of several operators the
// first one reports this. refuse adds no finalizer, because nobody would remove it.
func (c *Controller) refuse(ctx context.Context, ref deploy.Ref, target schema.GroupVersionKind) error {
	return c.setStatus(ctx, ref, metav1.Condition{
		Type: ConditionApplied, Status: metav1.ConditionFalse, Reason: ReasonNotPatchable,
		Message: fmt.Sprintf("spec.kind: nobody is known to patch a %s of %s: %s patches %s",
			target.Kind, target.GroupVersion(), c.manager.FieldManager(), strings.Join(c.kinds, ", ")),
	}, func(current *unstructured.Unstructured) bool {
		before, ok := status.Conditions(current).Get(ConditionApplied)
		return ok && before.ObservedGeneration == current.GetGeneration() || current.GetDeletionTimestamp() != nil
	}, nil)
}
