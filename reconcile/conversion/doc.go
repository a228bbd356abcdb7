// Package conversion converts the objects of a kind between its versions, for the API server.
//
//	shops := conversion.New[v2.Shop](v2.ShopKind)
//	conversion.Add(shops, v1.ShopKind, conversion.Functions[v1.Shop, v2.Shop]{
//		Up: func(from *v1.Shop, to *v2.Shop) error {
//			to.Spec.Replicas = from.Spec.Size
//			return nil
//		},
//		Down: func(from *v2.Shop, to *v1.Shop) error {
//			to.Spec.Size = from.Spec.Replicas
//			return nil
//		},
//	})
//
// One version is the hub: every other version has a pair of functions, to the hub and from it. They convert spec,
// status and whatever else the kind has, except for the metadata, which is the same in all versions.
//
// # What a version can't hold
//
// Nothing is lost on the way through a version that can't hold it. Each conversion is tried back; what doesn't return
// is kept in the annotation <domain>/kept-<version> of the converted object, and put back when the object is converted
// to that version again. Only what somebody has changed meanwhile isn't put back: a field that the way back gives
// another value than before. So write functions that fill in what they know, and don't mind the rest. Whoever replaces
// an object without its annotations loses what is kept in them; kubectl edit, patch and apply keep them.
//
// Package conversiontest tests the functions by generated objects, and lists the fields that only the annotation keeps.
//
// # When not
//
// Without a moved or renamed field no conversion is needed: the API server serves the same content in all versions
// (strategy None), and fields that a schema doesn't have are removed.
package conversion
