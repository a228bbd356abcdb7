package smp

import (
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/smp/internal/schema"
	"github.com/operkit/operkit/smp/internal/schema/openapi"
)

// SchemaFromOpenAPI reads the schema of a kind from an OpenAPI v3 document in JSON, as API servers
// serve one for each group and version, for example at /openapi/v3/apis/apps/v1 (spec: smp 12, 28).
//
// x-kubernetes-patch-strategy and x-kubernetes-patch-merge-key say how a field merges. Without them
// x-kubernetes-list-type, x-kubernetes-list-map-keys and x-kubernetes-map-type do, as in the schema
// of a custom resource; for Kubernetes' own types they don't, since the API server merges those by
// the first two alone.
//
// An error of kind [UnknownType] says which kinds the document has, one of kind [Document] what in it
// can't be read, one of kind [Limit] that it is nested too deep.
func SchemaFromOpenAPI(document []byte, gvk kschema.GroupVersionKind) (Schema, error) {
	root, err := openapi.FromDocument(document, gvk)
	if err != nil {
		return Schema{}, schemaError(err, gvk.GroupVersion().String()+" "+gvk.Kind)
	}
	return Schema{kind: gvk, place: schema.Place{Type: root}}, nil
}
