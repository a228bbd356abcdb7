package edit

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Reasons why no edit changes a field, as the table of coverage has them.
const (
	ByRule     = "CEL"       // a validation rule names it
	AsUnknown  = "preserved" // the schema doesn't say what is valid
	ByDepth    = "depth"     // it is deeper than edits are
	InTemplate = "Pod"       // it is in the template of a Pod
	Otherwise  = "other"     // no other value is valid, or the cluster refuses each one
)

// Reasons are in the order of the table.
var Reasons = []string{ByRule, AsUnknown, ByDepth, InTemplate, Otherwise}

// Fields returns a reason for each field that the schema of a resource has, apart from metadata and status, by its
// path. It is the reason if no edit changes the field. spec.stages[].size is a field of the items of a list, and
// spec.pools{}.size one of the entries of a map.
func Fields(resource *unstructured.Unstructured, definitions []*unstructured.Unstructured) map[string]string {
	why, ruled, schema := map[string]string{}, frozen{}, schemaOf(resource, definitions)
	ruled.add(schema, "")
	for _, name := range ownFields(schema) {
		explain(why, ruled, (&location{schema: schema}).field(name))
	}
	return why
}

func explain(why map[string]string, ruled frozen, p *location) {
	ruled.add(p.schema, p.path)
	properties := propertiesOf(p.schema)
	switch shape := shapeOf(p.schema); {
	case shape == objectField && len(properties) > 0:
		for name := range properties {
			explain(why, ruled, p.field(name))
		}
	case shape == listField:
		explain(why, ruled, p.item(0))
	case shape == mapField:
		explain(why, ruled, p.entry("key"))
	default:
		why[strings.TrimRight(p.path, "[]{}")] = reasonOf(ruled, p, shape)
	}
}

// reasonOf returns why a field may be without an edit.
func reasonOf(ruled frozen, p *location, shape shape) string {
	switch {
	case ruled.has(p.path):
		return ByRule
	case shape == opaqueField:
		return AsUnknown
	case p.inPod:
		return InTemplate
	case p.depth > deepest:
		return ByDepth
	}
	return Otherwise
}
