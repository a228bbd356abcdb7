package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/smp/internal/schema"
)

// source is an OpenAPI v3 document whose schemas are decoded when they are needed.
type source struct {
	raw     map[string]json.RawMessage
	decoded map[string]map[string]any
}

const (
	kindsKey  = "x-kubernetes-group-version-kind"
	refPrefix = "#/components/schemas/"
)

// FromDocument returns the type of a kind that an OpenAPI v3 document describes.
func FromDocument(text []byte, gvk kschema.GroupVersionKind) (*schema.Type, error) {
	var content struct {
		Swagger    string
		Components struct {
			Schemas map[string]json.RawMessage
		}
	}
	if err := json.Unmarshal(text, &content); err != nil {
		return nil, schema.Errorf(schema.Malformed, "", "can't read the OpenAPI document: %w", err)
	}
	if content.Swagger != "" {
		return nil, schema.Errorf(schema.Malformed, "/swagger", "the OpenAPI document is of version %s: use version 3, which API servers serve below /openapi/v3", content.Swagger)
	}
	d := &source{raw: content.Components.Schemas, decoded: map[string]map[string]any{}}
	name, err := d.find(gvk)
	if err != nil {
		return nil, err
	}
	r := &reader{document: d, types: map[string]*schema.Type{}}
	root := r.component(refPrefix+name, nil)
	if r.err != nil {
		return nil, r.err
	}
	if root.Shape != schema.Object && root.Shape != schema.Any {
		return nil, schema.Errorf(schema.Malformed, schemaAt(name).String(), "the schema of %s doesn't describe an object", gvk.Kind)
	}
	return root, nil
}

// find returns the name of the schema of a kind, the first by name if there are several.
func (d *source) find(gvk kschema.GroupVersionKind) (string, error) {
	var others []string
	for _, name := range slices.Sorted(maps.Keys(d.raw)) {
		kinds, err := d.kinds(name)
		if err != nil {
			return "", err
		}
		if slices.Contains(kinds, gvk) {
			return name, nil
		}
		for _, other := range kinds {
			others = append(others, fmt.Sprintf("%s %s", other.GroupVersion(), other.Kind))
		}
	}
	if len(others) == 0 {
		return "", schema.Errorf(schema.Missing, "", "the OpenAPI document describes no kinds")
	}
	const shown = 20
	slices.Sort(others)
	others = slices.Compact(others)
	rest := ""
	if n := len(others) - shown; n > 0 {
		others, rest = others[:shown], fmt.Sprintf(" and %d more", n)
	}
	return "", schema.Errorf(schema.Missing, "", "the OpenAPI document doesn't describe the kind: use one of %s%s", strings.Join(others, ", "), rest)
}

func (d *source) kinds(name string) ([]kschema.GroupVersionKind, error) {
	raw := d.raw[name]
	if !bytes.Contains(raw, []byte(kindsKey)) {
		return nil, nil
	}
	var content struct {
		Kinds []kschema.GroupVersionKind `json:"x-kubernetes-group-version-kind"`
	}
	if err := json.Unmarshal(raw, &content); err != nil {
		return nil, schema.Errorf(schema.Malformed, schemaAt(name).to(kindsKey).String(), "it isn't a list of kinds: %w", err)
	}
	return content.Kinds, nil
}

func schemaAt(name string) *step {
	var root *step
	return root.to("components", "schemas", name)
}

// component returns the type of a schema that a reference names. A schema that refers to itself becomes one type that
// contains itself.
func (r *reader) component(ref string, at *step) *schema.Type {
	if known := r.types[ref]; known != nil {
		return known
	}
	n, ok := r.lookup(ref, at)
	if !ok {
		return anyOf
	}
	made := &schema.Type{}
	r.types[ref] = made
	*made = *r.read(n)
	return made
}

// lookup finds the schema that a reference names.
func (r *reader) lookup(ref string, at *step) (n node, ok bool) {
	escaped, local := strings.CutPrefix(ref, refPrefix)
	name, err := url.PathUnescape(escaped)
	if !local || err != nil || r.document == nil {
		r.fail(schema.Malformed, at, "reference %q: only references to %sNAME in an OpenAPI document are supported", ref, refPrefix)
		return node{}, false
	}
	name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
	raw, found := r.document.raw[name]
	if !found {
		r.fail(schema.Malformed, at, "reference %q: the document has no such schema", ref)
		return node{}, false
	}
	fields := r.document.decoded[name]
	if fields == nil {
		if err := json.Unmarshal(raw, &fields); err != nil || fields == nil {
			r.fail(schema.Malformed, schemaAt(name), "it isn't an object")
			return node{}, false
		}
		r.document.decoded[name] = fields
	}
	return node{fields: fields, at: schemaAt(name), name: name, tagged: fromStruct(name)}, true
}

// fromStruct reports whether a schema is made from a Go struct of Kubernetes. The API server merges such types only by
// the tags of the struct.
func fromStruct(name string) bool {
	for _, module := range []string{"api", "apimachinery", "apiextensions-apiserver", "kube-aggregator"} {
		if strings.HasPrefix(name, "io.k8s."+module+".") {
			return true
		}
	}
	return false
}
