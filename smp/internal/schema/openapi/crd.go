package openapi

import (
	"slices"
	"strings"

	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/smp/internal/schema"
)

// FromCRD returns the type and the kind of a version of a CustomResourceDefinition.
func FromCRD(crd map[string]any, version string) (*schema.Type, kschema.GroupVersionKind, error) {
	r := &reader{}
	definition := node{fields: crd}
	spec, found := r.child(definition, "spec")
	if !found && r.err == nil {
		r.fail(schema.Malformed, nil, "it isn't a CustomResourceDefinition: there is no spec")
	}
	names, _ := r.child(spec, "names")
	group, _ := value[string](r, spec, "group")
	kind, _ := value[string](r, names, "kind")
	gvk := kschema.GroupVersionKind{Group: group, Version: version, Kind: kind}
	top, found := r.versionSchema(spec, version)
	if r.err != nil {
		return nil, gvk, r.err
	}
	if !found {
		return nil, gvk, schema.Errorf(schema.Missing, top.at.String(), "version %q has no schema (schema.openAPIV3Schema)", version)
	}
	top.name = typeName(gvk)
	root := r.readRoot(top)
	if r.err != nil {
		return nil, gvk, r.err
	}
	return root, gvk, nil
}

// readRoot reads the schema of whole objects, and adds the fields that every object has.
func (r *reader) readRoot(n node) *schema.Type {
	if r.kind(n) != "object" {
		r.fail(schema.Malformed, n.at.to("type"), "the schema of the version doesn't describe an object")
		return nil
	}
	open, _ := value[bool](r, n, "x-kubernetes-preserve-unknown-fields")
	properties, _ := value[map[string]any](r, n, "properties")
	root := &schema.Type{Name: n.name, Shape: schema.Object, Open: open}
	r.readFields(root, n, properties)
	addObjectFields(root)
	return root
}

// versionSchema finds the schema of a version.
func (r *reader) versionSchema(spec node, version string) (top node, found bool) {
	var served []string
	for _, v := range r.children(spec, "versions") {
		name, _ := value[string](r, v, "name")
		if name != version {
			served = append(served, name)
			continue
		}
		around, _ := r.child(v, "schema")
		return r.child(around, "openAPIV3Schema")
	}
	if len(served) == 0 {
		r.fail(schema.Malformed, spec.at.to("versions"), "the definition has no versions: it must be of apiextensions.k8s.io/v1")
	}
	r.fail(schema.Missing, spec.at.to("versions"), "there is no version %q: use one of %s", version, strings.Join(served, ", "))
	return top, false
}

// typeName returns the name that the API server gives a kind in its OpenAPI documents.
func typeName(gvk kschema.GroupVersionKind) string {
	names := strings.Split(gvk.Group, ".")
	slices.Reverse(names)
	return strings.Join(append(names, gvk.Version, gvk.Kind), ".")
}
