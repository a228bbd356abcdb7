package rule

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// validationsKey is the field of a schema that has its rules.
const validationsKey = "x-kubernetes-validations"

// AddTo returns a CustomResourceDefinition with the rules in the schemas of versions, or of all versions if none is
// named. A rule that is there already, by its expression, is replaced, so that adding the same rules again changes
// nothing; others stay. definition stays as it is. The error has all mistakes: of Validate, and paths that a schema
// doesn't have.
func (s Set) AddTo(definition *unstructured.Unstructured, versions ...string) (*unstructured.Unstructured, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	changed := definition.DeepCopy()
	served, _, _ := unstructured.NestedSlice(changed.Object, "spec", "versions")
	var errs []error
	found := map[string]bool{}
	for _, each := range served {
		version, _ := each.(map[string]any)
		name, _ := version["name"].(string)
		if found[name] = true; len(versions) > 0 && !slices.Contains(versions, name) {
			continue
		}
		schema, ok, _ := unstructured.NestedFieldNoCopy(version, "schema", "openAPIV3Schema")
		root, isMap := schema.(map[string]any)
		if !ok || !isMap {
			errs = append(errs, fmt.Errorf("version %s: it has no schema", name))
			continue
		}
		errs = append(errs, s.addToSchema(root, name)...)
	}
	for _, name := range versions {
		if !found[name] {
			errs = append(errs, fmt.Errorf("version %s: the definition doesn't have it", name))
		}
	}
	if len(served) == 0 {
		errs = append(errs, errors.New("it has no versions: is it a CustomResourceDefinition of apiextensions.k8s.io/v1?"))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("definition %s: %w", definition.GetName(), err)
	}
	return changed, unstructured.SetNestedSlice(changed.Object, served, "spec", "versions")
}

// addToSchema adds the rules to the schema of a version.
func (s Set) addToSchema(root map[string]any, version string) (errs []error) {
	for _, r := range s {
		schema := at(root, r.Path)
		if schema == nil {
			errs = append(errs, fmt.Errorf("version %s: the schema has no field %s", version, r.Path))
			continue
		}
		rules, _ := schema[validationsKey].([]any)
		i := slices.IndexFunc(rules, func(each any) bool {
			other, _ := each.(map[string]any)
			return other["rule"] == r.CEL
		})
		if i < 0 {
			i, rules = len(rules), append(rules, nil)
		}
		rules[i] = r.validation()
		schema[validationsKey] = rules
	}
	return errs
}

// at returns the schema of a field, nil if there is none.
func at(schema map[string]any, path string) map[string]any {
	steps, _ := parsePath(path)
	for _, one := range steps {
		switch {
		case one.elements:
			schema, _ = schema["items"].(map[string]any)
		case one.values:
			schema, _ = schema["additionalProperties"].(map[string]any)
		default:
			properties, _ := schema["properties"].(map[string]any)
			schema, _ = properties[one.name].(map[string]any)
		}
		if schema == nil {
			return nil
		}
	}
	return schema
}

// validation returns the rule in the form of a schema.
func (r Rule) validation() map[string]any {
	validation := map[string]any{"rule": r.CEL}
	for key, text := range map[string]string{"message": r.Message, "messageExpression": r.MessageCEL, "reason": string(r.Class)} {
		if text != "" {
			validation[key] = text
		}
	}
	if r.Created {
		validation["optionalOldSelf"] = true
	}
	return validation
}
