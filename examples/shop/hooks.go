package main

import (
	"context"
	"slices"

	v2 "github.com/operkit/operkit/examples/shop/api/v2"
	"github.com/operkit/operkit/reconcile/admission"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// hooks paint shops without a colour, and refuse those with a colour that the street doesn't allow. CEL can do neither,
// because both depend on another object.
func hooks(s *streets) *admission.Hooks[v2.Shop] {
	hooks := admission.New[v2.Shop](v2.ShopKind)
	hooks.Mutate("colour", func(ctx context.Context, r *admission.Request[v2.Shop]) error {
		shop := r.Object
		if shop.Spec.Street == "" || shop.Spec.Appearance.Colour != "" {
			return nil
		}
		colours, err := s.colours(ctx, r.Ref.Namespace, shop.Spec.Street)
		if err == nil && len(colours) > 0 {
			shop.Spec.Appearance.Colour = colours[0]
		}
		return err
	})
	hooks.Validate("street", func(ctx context.Context, r *admission.Request[v2.Shop]) error {
		spec := r.Object.Spec
		if spec.Street == "" || r.Old != nil && r.Old.Spec == spec {
			return nil
		}
		colours, err := s.colours(ctx, r.Ref.Namespace, spec.Street)
		if err != nil || slices.Contains(colours, spec.Appearance.Colour) {
			return err
		}
		return field.NotSupported(field.NewPath("spec", "appearance", "colour"), spec.Appearance.Colour, colours)
	})
	return hooks
}
