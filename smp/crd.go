package smp

import (
	"github.com/operkit/operkit/smp/internal/schema"
	"github.com/operkit/operkit/smp/internal/schema/openapi"
)

// SchemaFromCRD reads the schema of a custom resource from a version of its
// CustomResourceDefinition of apiextensions.k8s.io/v1 (spec: smp 28).
//
// A list with x-kubernetes-list-type map merges by its x-kubernetes-list-map-keys, where the default
// of a key's field stands for elements without it; a set of scalars merges as a set; every other list
// is replaced. A map with x-kubernetes-map-type atomic is replaced. Where unknown fields are
// preserved, every field is known. Metadata, also that of embedded resources, merges as everywhere.
//
// The definition isn't changed and isn't needed afterwards. An error of kind [UnknownType] says
// which versions there are, one of kind [Document] what can't be read, one of kind [Limit] that the
// schema is nested too deep.
func SchemaFromCRD(crd map[string]any, version string) (Schema, error) {
	root, kind, err := openapi.FromCRD(crd, version)
	if err != nil {
		return Schema{}, schemaError(err, resourceOf(crd))
	}
	return Schema{kind: kind, place: schema.Place{Type: root}}, nil
}
