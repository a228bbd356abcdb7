package openapi

import (
	"fmt"
	"maps"
	"slices"

	"github.com/operkit/operkit/smp/internal/schema"
	"github.com/operkit/operkit/smp/internal/schema/builtin"
)

const (
	// maxDepth bounds how deep schemas may be nested, references included.
	maxDepth = 1000
	// maxNodes bounds how many schemas one kind may have.
	maxNodes = 250_000
)

// reader reads schemas. The first error is kept; after it nothing is read any more.
type reader struct {
	document     *source // the document with the schemas that references name; nil for a CRD
	types        map[string]*schema.Type
	depth, nodes int
	err          error
}

var (
	scalar = &schema.Type{Shape: schema.Scalar}
	anyOf  = &schema.Type{Shape: schema.Any}
)

func (r *reader) fail(reason schema.Reason, at *step, format string, args ...any) {
	if r.err == nil {
		r.err = &schema.Error{Path: at.String(), Reason: reason, Err: fmt.Errorf(format, args...)}
	}
}

// place returns the type of the values that a schema describes, and how these values merge.
func (r *reader) place(n node) schema.Place {
	t := r.read(n)
	if r.err != nil {
		return schema.Place{}
	}
	return r.merging(n, t)
}

// read returns the type of a schema.
func (r *reader) read(n node) *schema.Type {
	r.depth++
	defer func() { r.depth-- }()
	r.nodes++
	switch {
	case r.err != nil:
		return anyOf
	case r.depth > maxDepth:
		r.fail(schema.TooDeep, nil, "the schema is nested deeper than %d", maxDepth)
		return anyOf
	case r.nodes > maxNodes:
		r.fail(schema.TooDeep, nil, "the schema has more than %d parts", maxNodes)
		return anyOf
	}
	if ref, found := value[string](r, n, "$ref"); found {
		return r.component(ref, n.at.to("$ref"))
	}
	if r.intOrString(n) {
		return scalar
	}
	if parts := r.allOf(n); len(parts) > 0 {
		return r.union(parts)
	}
	return r.readKind(n)
}

func (r *reader) intOrString(n node) bool {
	is, _ := value[bool](r, n, "x-kubernetes-int-or-string")
	return is
}

// readKind reads a schema that describes its values itself.
func (r *reader) readKind(n node) *schema.Type {
	switch kind := r.kind(n); kind {
	case "object":
		return r.readObject(n)
	case "array":
		list := &schema.Type{Shape: schema.List}
		if items, found := r.child(n, "items"); found {
			list.Values = r.place(items)
		}
		return list
	case "scalar":
		return scalar
	default:
		return anyOf
	}
}

// kind returns the kind of values that a schema describes: "object", "array", "scalar", or "any" if the schema names no
// kind or several kinds.
func (r *reader) kind(n node) string {
	var types []string
	if _, several := n.fields["type"].([]any); several {
		types = slices.DeleteFunc(r.texts(n, "type"), func(name string) bool { return name == "null" })
	} else if name, found := value[string](r, n, "type"); found {
		types = []string{name}
	}
	kind := ""
	for _, name := range types {
		next := r.kindOf(name, n)
		if kind != "" && kind != next {
			return "any"
		}
		kind = next
	}
	switch {
	case kind != "":
		return kind
	case n.fields["properties"] != nil || n.fields["additionalProperties"] != nil:
		return "object"
	case n.fields["items"] != nil:
		return "array"
	default:
		return r.alternatives(n)
	}
}

func (r *reader) kindOf(name string, n node) string {
	switch name {
	case "object", "array":
		return name
	case "string", "number", "integer", "boolean":
		return "scalar"
	default:
		r.fail(schema.Malformed, n.at.to("type"), "%q is no type of a schema", name)
		return "any"
	}
}

// alternatives returns "scalar" if the schema has alternatives and each is a scalar, otherwise "any". A quantity, for
// example, is a string or a number.
func (r *reader) alternatives(n node) string {
	nodes := append(r.children(n, "oneOf"), r.children(n, "anyOf")...)
	for _, alternative := range nodes {
		name, _ := alternative.fields["type"].(string)
		if !slices.Contains([]string{"string", "number", "integer", "boolean"}, name) {
			return "any"
		}
	}
	if len(nodes) == 0 {
		return "any"
	}
	return "scalar"
}

// allOf returns the schemas in allOf of a schema that doesn't describe its values itself. OpenAPI documents of
// Kubernetes wrap each reference in allOf, to have room for a default beside it. In a CRD, allOf is only for
// validation, so allOf returns nil.
func (r *reader) allOf(n node) []node {
	if r.document == nil {
		return nil
	}
	for _, own := range []string{"type", "properties", "items", "additionalProperties"} {
		if n.fields[own] != nil {
			return nil
		}
	}
	return r.children(n, "allOf")
}

// union returns one type with the fields of several schemas.
func (r *reader) union(nodes []node) *schema.Type {
	first := r.read(nodes[0])
	if len(nodes) == 1 {
		return first
	}
	whole := &schema.Type{Name: nodes[0].name, Shape: schema.Object, Fields: map[string]schema.Place{}}
	for i, n := range nodes {
		part := first
		if i > 0 {
			part = r.read(n)
		}
		if part.Shape != schema.Object || part.Fields == nil {
			return anyOf // also for a schema that contains itself, whose fields aren't known yet
		}
		maps.Copy(whole.Fields, part.Fields)
		whole.Open = whole.Open || part.Open
	}
	return whole
}

func (r *reader) readObject(n node) *schema.Type {
	open, _ := value[bool](r, n, "x-kubernetes-preserve-unknown-fields")
	embedded, _ := value[bool](r, n, "x-kubernetes-embedded-resource")
	properties, named := value[map[string]any](r, n, "properties")
	free, isFree := r.additional(n)
	switch {
	case named || embedded:
	case isFree:
		return &schema.Type{Shape: schema.Map, Values: free}
	case open || r.document != nil:
		return anyOf
	}
	object := &schema.Type{Name: n.name, Shape: schema.Object, Open: open || isFree}
	r.readFields(object, n, properties)
	if embedded {
		addObjectFields(object)
	}
	return object
}

func (r *reader) readFields(object *schema.Type, n node, properties map[string]any) {
	fields := make(map[string]schema.Place, len(properties))
	parent := node{fields: properties, at: n.at.to("properties"), tagged: n.tagged}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		parent.name = n.name + "." + name
		property, found := r.child(parent, name)
		if !found && r.err == nil {
			r.fail(schema.Malformed, property.at, "it is null, not an object")
		}
		if r.err != nil {
			break
		}
		fields[name] = r.place(property)
	}
	object.Fields = fields
}

// additional returns the place of the values in additionalProperties of an object. A value of false is the same as a
// missing field.
func (r *reader) additional(n node) (place schema.Place, found bool) {
	if allowed, isBool := n.fields["additionalProperties"].(bool); isBool {
		return schema.Place{}, allowed
	}
	values, found := r.child(n, "additionalProperties")
	if !found {
		return schema.Place{}, false
	}
	return r.place(values), true
}

// addObjectFields adds the fields that every object of Kubernetes has. An OpenAPI document may describe the type of
// metadata; a CRD can only restrict its values.
func addObjectFields(object *schema.Type) {
	object.Fields["apiVersion"] = schema.Place{Type: scalar}
	object.Fields["kind"] = schema.Place{Type: scalar}
	metadata := builtin.ObjectMeta()
	if said := object.Fields["metadata"].Type; said == nil || said.Name != metadata.Name {
		object.Fields["metadata"] = schema.Place{Type: metadata}
	}
}
