package explore

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Reasons why no edit changes a field, as the table of coverage has them.
const (
	byRule     = "CEL"       // a validation rule names it
	asUnknown  = "preserved" // the schema doesn't say what is valid
	byDepth    = "depth"     // it is deeper than edits are
	inTemplate = "Pod"       // it is in the template of a Pod
	otherwise  = "other"     // no other value is valid, or the cluster refuses each one
)

// reasons are in the order of the table.
var reasons = []string{byRule, asUnknown, byDepth, inTemplate, otherwise}

// uneditable returns a reason for each field of a resource's schema, by its path as fieldsOf has it. It is the reason
// if no edit changes the field.
func uneditable(resource *unstructured.Unstructured, definitions []*unstructured.Unstructured) map[string]string {
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
		return byRule
	case shape == opaqueField:
		return asUnknown
	case p.inPod:
		return inTemplate
	case p.depth > deepest:
		return byDepth
	}
	return otherwise
}

// neverEdited counts the fields of the schemas that no edit changes, by the reason. It is empty if there are none.
func (c *coverage) neverEdited() string {
	counts := map[string]int{}
	for _, path := range slices.Sorted(maps.Keys(c.unedited)) {
		if _, edited := c.fields[path]; !edited {
			counts[c.unedited[path]]++
		}
	}
	var parts []string
	for _, reason := range reasons {
		if counts[reason] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[reason], reason))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "fields without an edit: " + strings.Join(parts, ", ")
}

// schema adds the fields of the schema of a sample.
func (c *coverage) schema(sample *unstructured.Unstructured, definitions []*unstructured.Unstructured) {
	if c.unedited == nil {
		c.unedited = map[string]string{}
	}
	maps.Copy(c.unedited, uneditable(sample, definitions))
}
