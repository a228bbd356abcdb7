package ruletest

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// place is a part of a schema that has rules.
type place struct {
	// path is its path as in a rule.
	path string
	// at is its path as in the API server's errors.
	at      *field.Path
	schema  *apiextensions.JSONSchemaProps
	context *validation.CELSchemaContext
	// unbounded are the limits that the lists and maps around it lack.
	unbounded []string
}

// placesIn returns the places below one, itself included, that have rules.
func placesIn(p place) (found []place) {
	if len(p.schema.XValidations) > 0 {
		found = append(found, p)
	}
	for _, name := range slices.Sorted(maps.Keys(p.schema.Properties)) {
		property := p.schema.Properties[name]
		found = append(found, placesIn(place{
			path: strings.TrimPrefix(p.path+"."+name, "."), at: p.at.Child("properties").Key(name), schema: &property,
			context: p.context.ChildPropertyContext(&property, name), unbounded: p.unbounded,
		})...)
	}
	if items := p.schema.Items; items != nil && items.Schema != nil {
		found = append(found, placesIn(place{
			path: p.path + "[*]", at: p.at.Child("items"), schema: items.Schema,
			context: p.context.ChildItemsContext(items.Schema), unbounded: p.inside(p.schema.MaxItems, "maxItems"),
		})...)
	}
	if values := p.schema.AdditionalProperties; values != nil && values.Schema != nil {
		found = append(found, placesIn(place{
			path: p.path + "{*}", at: p.at.Child("additionalProperties"), schema: values.Schema,
			context: p.context.ChildAdditionalPropertiesContext(values.Schema), unbounded: p.inside(p.schema.MaxProperties, "maxProperties"),
		})...)
	}
	return found
}

// inside returns the limits that are lacking for the elements of a place, given its own limit.
func (p place) inside(limit *int64, name string) []string {
	if limit != nil {
		return p.unbounded
	}
	return append(slices.Clone(p.unbounded), name+" of "+p.path)
}

// advice returns what would make a rule of the place cheaper: limits around it, and of what the rule mentions.
func (p place) advice(expression string) string {
	missing := append(slices.Clone(p.unbounded), boundsOf(p.schema, p.path, "", func(name string) bool {
		return name == "" || strings.Contains(expression, name)
	})...)
	missing = slices.Compact(missing)
	if len(missing) == 0 {
		return "lower the limits of its lists, maps and texts, or simplify the rule"
	}
	if len(missing) > 4 {
		missing = append(missing[:4], "others")
	}
	return "set " + strings.Join(missing, ", ") + ", or simplify the rule"
}

// lengths are the formats whose length is known.
var lengths = []string{"date", "date-time", "datetime", "duration", "uuid", "ipv4", "ipv6", "mac"}

// boundsOf returns the limits that a schema and what is in it lack, as far as a rule mentions it.
func boundsOf(schema *apiextensions.JSONSchemaProps, path, name string, mentioned func(string) bool) (missing []string) {
	if !mentioned(name) {
		return nil
	}
	switch {
	case schema.Type == "string" && schema.MaxLength == nil && len(schema.Enum) == 0 && !slices.Contains(lengths, schema.Format):
		missing = append(missing, "maxLength of "+path)
	case schema.Items != nil && schema.Items.Schema != nil:
		if schema.MaxItems == nil {
			missing = append(missing, "maxItems of "+path)
		}
		missing = append(missing, boundsOf(schema.Items.Schema, path+"[*]", "", mentioned)...)
	case schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil:
		if schema.MaxProperties == nil {
			missing = append(missing, "maxProperties of "+path)
		}
		missing = append(missing, boundsOf(schema.AdditionalProperties.Schema, path+"{*}", "", mentioned)...)
	}
	for _, child := range slices.Sorted(maps.Keys(schema.Properties)) {
		property := schema.Properties[child]
		missing = append(missing, boundsOf(&property, strings.TrimPrefix(path+"."+child, "."), child, mentioned)...)
	}
	return missing
}
