package main

import (
	v1 "github.com/operkit/operkit/examples/shop/api/v1"
	v2 "github.com/operkit/operkit/examples/shop/api/v2"
	"github.com/operkit/operkit/reconcile/conversion"
)

// conversions converts shops between the versions. The street, which v1 doesn't have, is kept in an annotation.
func conversions() *conversion.Converter[v2.Shop] {
	shops := conversion.New[v2.Shop](v2.ShopKind)
	conversion.Add(shops, v1.ShopKind, conversion.Functions[v1.Shop, v2.Shop]{
		Up: func(from *v1.Shop, to *v2.Shop) error {
			to.Spec.Replicas = from.Spec.Size
			to.Spec.Appearance.Colour = from.Spec.Colour
			to.Status = from.Status
			return nil
		},
		Down: func(from *v2.Shop, to *v1.Shop) error {
			to.Spec.Size = from.Spec.Replicas
			to.Spec.Colour = from.Spec.Appearance.Colour
			to.Status = from.Status
			return nil
		},
	})
	return shops
}
