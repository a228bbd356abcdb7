package operator_test

import (
	"cmp"
	"context"
	"strconv"

	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/admission"
	"github.com/operkit/operkit/reconcile/admission/rule"
	"github.com/operkit/operkit/reconcile/conversion"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var (
	oldCrates = schema.GroupVersionKind{Group: "webhooks.operkit.dev", Version: "v1", Kind: "Crate"}
	crates    = schema.GroupVersionKind{Group: "webhooks.operkit.dev", Version: "v2", Kind: "Crate"}
)

// oldCrate is a Crate of v1, and crate one of v2, in which the size has moved and has another name.
type (
	oldCrate struct {
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata"`
		Spec              struct {
			Size   int64  `json:"size,omitempty"`
			Colour string `json:"colour,omitempty"`
			Weight int64  `json:"weight,omitempty"`
			Height int64  `json:"height,omitempty"`
		} `json:"spec"`
		Status map[string]any `json:"status,omitempty"`
	}
	crate struct {
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata"`
		Spec              struct {
			Volume struct {
				Litres int64 `json:"litres,omitempty"`
				Sealed bool  `json:"sealed,omitempty"`
			} `json:"volume"`
			Colour string `json:"colour,omitempty"`
			Weight int64  `json:"weight,omitempty"`
			Height int64  `json:"height,omitempty"`
		} `json:"spec"`
		Status map[string]any `json:"status,omitempty"`
	}
)

// crateConversion converts Crates.
func crateConversion() *conversion.Converter[crate] {
	c := conversion.New[crate](crates)
	conversion.Add(c, oldCrates, conversion.Functions[oldCrate, crate]{
		Up: func(from *oldCrate, to *crate) error {
			to.Spec.Volume.Litres, to.Spec.Colour, to.Status = from.Spec.Size, from.Spec.Colour, from.Status
			to.Spec.Weight, to.Spec.Height = from.Spec.Weight, from.Spec.Height
			return nil
		},
		Down: func(from *crate, to *oldCrate) error {
			to.Spec.Size, to.Spec.Colour, to.Status = from.Spec.Volume.Litres, from.Spec.Colour, from.Status
			to.Spec.Weight, to.Spec.Height = from.Spec.Weight, from.Spec.Height
			return nil
		},
	})
	return c
}

// crateHooks refuse a Crate that shrinks, and paint those without a colour.
func crateHooks() *admission.Hooks[crate] {
	hooks := admission.New[crate](crates)
	hooks.Mutate("colour", func(_ context.Context, r *admission.Request[crate]) error {
		r.Object.Spec.Colour = cmp.Or(r.Object.Spec.Colour, "green")
		return nil
	})
	hooks.Validate("size", func(_ context.Context, r *admission.Request[crate]) error {
		if r.Old != nil && r.Object.Spec.Volume.Litres < r.Old.Spec.Volume.Litres {
			return field.Forbidden(field.NewPath("spec", "volume", "litres"), "a crate can't shrink")
		}
		return nil
	})
	return hooks
}

// labelHooks refuse a ConfigMap with the label tier and a value that isn't known. The operator doesn't control this
// kind.
func labelHooks() *admission.Hooks[metav1.PartialObjectMetadata] {
	hooks := admission.New[metav1.PartialObjectMetadata](configMaps, admission.Objects(metav1.LabelSelector{
		MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: metav1.LabelSelectorOpExists}},
	}))
	hooks.Validate("tier", func(_ context.Context, r *admission.Request[metav1.PartialObjectMetadata]) error {
		if tier := r.Object.Labels["tier"]; tier != "gold" {
			return field.NotSupported(field.NewPath("metadata", "labels", "tier"), tier, []string{"gold"})
		}
		return nil
	})
	return hooks
}

// crateController makes a ConfigMap with the content of a Crate.
type crateController struct{}

func (crateController) Kind() schema.GroupVersionKind { return crates }

func (crateController) Setup(_ context.Context, s *reconcile.Session) error {
	litres, _, err := unstructured.NestedInt64(s.Resource().Object, "spec", "volume", "litres")
	if err != nil {
		return err
	}
	s.Add("store", &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": s.Name()},
		"data": map[string]any{"mode": strconv.FormatInt(litres, 10)},
	}})
	return nil
}

// crateOperator is an operator with everything that the API server may ask.
func crateOperator(options ...operator.Option) *operator.Operator {
	op := operator.New("crate-operator", options...)
	op.Control(crateController{})
	op.Convert(crateConversion())
	op.Admit(crateHooks())
	op.Admit(labelHooks())
	op.Enforce(rule.Set{{Path: "spec.height", CEL: "self >= oldSelf", Message: "a crate can't get lower"}, {Path: "spec.colour", CEL: "self != 'plaid'", Message: "no plaid"}},
		rule.Policy{Name: "crates.webhooks.operkit.dev", Kind: crates, Resource: "crates"})
	return op
}

// crateRights are the rights to control Crates.
var crateRights = []rbacv1.PolicyRule{
	{Verbs: []string{"get", "list", "watch", "patch", "update"}, APIGroups: []string{"webhooks.operkit.dev"}, Resources: []string{"crates", "crates/status", "crates/finalizers"}},
	{Verbs: []string{"get", "list", "watch", "patch", "create", "delete"}, APIGroups: []string{""}, Resources: []string{"configmaps"}},
}
