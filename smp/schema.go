package smp

import (
	"fmt"
	"strings"

	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/smp/internal/schema"
	"github.com/operkit/operkit/smp/internal/schema/builtin"
)

// Schema says how the fields of one kind merge (spec: smp 12): which lists merge by which keys,
// which maps are replaced, and which fields there are at all.
//
// Make one with [SchemaFor], [SchemaFromOpenAPI], [SchemaFromCRD] or [SchemaFromType], once for each
// kind: it never changes, and any number of goroutines may use it. The zero value is that of an
// unknown kind, which [ForUnknown] is about.
type Schema struct {
	kind  kschema.GroupVersionKind
	place schema.Place
}

// SchemaFor gives the schema of Kubernetes' own stable kinds: every kind with a version v1, v2 and
// so on of the groups that each cluster has, CustomResourceDefinition and APIService included. For
// every other kind, also one of the same name in another group, the schema isn't known.
//
// A kind is read when it is first asked for; after that a call costs one look into a map.
func SchemaFor(gvk kschema.GroupVersionKind) Schema {
	return Schema{kind: gvk, place: schema.Place{Type: builtin.Type(gvk)}}
}

// Known says whether it is known how the kind merges.
func (s Schema) Known() bool { return s.place.Type != nil }

// String is the kind that the schema is of, and "unknown" where nothing is known of it. See
// [Schema.Describe] for what the schema says.
func (s Schema) String() string {
	name := s.kind.Kind
	if name != "" {
		name = s.kind.GroupVersion().String() + " " + name
	} else if s.Known() {
		name = s.place.Type.Name
	}
	if !s.Known() {
		name += " (unknown)"
	}
	return strings.TrimSpace(name)
}

// checkKind refuses a document of another kind than the schema's. Another version of it will do, and a
// document that doesn't say.
func (s Schema) checkKind(doc map[string]any) error {
	kind, hasKind := doc["kind"].(string)
	apiVersion, hasVersion := doc["apiVersion"].(string)
	if s.kind.Kind == "" || !s.Known() || !hasKind {
		return nil
	}
	groupVersion, err := kschema.ParseGroupVersion(apiVersion)
	if kind == s.kind.Kind && (!hasVersion || err != nil || groupVersion.Group == s.kind.Group) {
		return nil //nolint:nilerr // a group that can't be read isn't known to be another one
	}
	return &PatchError{Path: "/kind", Kind: UnknownType, Err: fmt.Errorf(
		"the schema is that of %s, the document is a %s of %q: give the document's own", s, kind, apiVersion)}
}
