package smp

import (
	"reflect"

	"github.com/operkit/operkit/smp/internal/schema"
	"github.com/operkit/operkit/smp/internal/schema/gotype"
)

// SchemaFromType reads the schema of a Go struct (spec: smp 12). The example is a value of it, a
// pointer, which may be nil, or its [reflect.Type].
//
// Fields are those of encoding/json: by their json tags, those of embedded structs inline. The tags
// patchStrategy and patchMergeKey say how they merge, as in k8s.io/api:
//
//	Ports []Port `json:"ports" patchStrategy:"merge" patchMergeKey:"name"`
//
// Types that write their JSON themselves are scalars when they also write text, or say so by a
// method OpenAPISchemaType as those of Kubernetes do; of the others nothing is known.
//
// An error of kind [Document] says which field can't be read. The schema has no kind of its own:
// it is for documents of that struct, whatever they are called.
func SchemaFromType(example any) (Schema, error) {
	t, ok := example.(reflect.Type)
	if !ok {
		t = reflect.TypeOf(example)
	}
	root, err := gotype.Read(t)
	if err != nil {
		return Schema{}, schemaError(err, "")
	}
	return Schema{place: schema.Place{Type: root}}, nil
}
