package ruletest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operkit/operkit/reconcile/admission/rule"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// located is a rule at its place in the schema of a version.
type located struct {
	version string
	rule    rule.Rule
	// number is the number of the rule in its set, 0 for one that only the definition has.
	number int
	// index is its index among the rules of its place.
	index int
	// at is its path in the API server's errors.
	at   *field.Path
	cost Cost
	// compiled: its costs are known.
	compiled bool
	// err is why it can't be compiled.
	err error
	// older is why an older API server can't compile it.
	older error
}

// locate returns the rules of all versions of a definition.
func locate(set rule.Set, definition *apiextensions.CustomResourceDefinition, older *environment.EnvSet) (found []located) {
	if shared := definition.Spec.Validation; shared != nil {
		for _, version := range definition.Spec.Versions {
			found = append(found, locateIn(set, version.Name, shared.OpenAPIV3Schema, field.NewPath("spec", "validation", "openAPIV3Schema"), older)...)
		}
	}
	for i, version := range definition.Spec.Versions {
		if version.Schema != nil {
			at := field.NewPath("spec", "versions").Index(i).Child("schema", "openAPIV3Schema")
			found = append(found, locateIn(set, version.Name, version.Schema.OpenAPIV3Schema, at, older)...)
		}
	}
	return found
}

// locateIn returns the rules in the schema of a version.
func locateIn(set rule.Set, version string, schema *apiextensions.JSONSchemaProps, at *field.Path, older *environment.EnvSet) (found []located) {
	if schema == nil {
		return nil
	}
	for _, p := range placesIn(place{schema: schema, at: at, context: validation.RootCELContext(schema)}) {
		results, olderResults := p.compile(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())), p.compile(older)
		for i, validation := range p.schema.XValidations {
			one := located{version: version, index: i, at: p.at.Child("x-kubernetes-validations").Index(i), rule: ruleOf(p.path, validation)}
			one.number = 1 + slices.IndexFunc(set, func(r rule.Rule) bool { return r.Path == p.path && r.CEL == validation.Rule })
			if one.number > 0 {
				one.rule = set[one.number-1]
			}
			one.cost = Cost{Version: version, Rule: one.rule, Advice: p.advice(validation.Rule)}
			if i < len(results) {
				one.err = errorOf(results[i])
			}
			if i < len(results) && results[i].Error == nil {
				one.compiled, one.cost.Estimate, one.cost.Message = true, costOf(results[i], p.context), results[i].MessageExpressionMaxCost
			}
			if i < len(olderResults) {
				one.older = errorOf(olderResults[i])
			}
			found = append(found, one)
		}
	}
	return found
}

// compile compiles the rules of a place; nil if the schema around them can't be compiled, which the API server's
// validation reports.
func (p place) compile(set *environment.EnvSet) []schemacel.CompilationResult {
	info, err := p.context.TypeInfo()
	if err != nil || info == nil || set == nil {
		return nil
	}
	results, err := schemacel.Compile(info.Schema, info.DeclType, celconfig.PerCallLimit, set, schemacel.NewExpressionsEnvLoader())
	if err != nil {
		return nil
	}
	return results
}

// ruleOf returns a rule of a schema as a Rule.
func ruleOf(path string, validation apiextensions.ValidationRule) rule.Rule {
	r := rule.Rule{Path: path, CEL: validation.Rule, Message: validation.Message, MessageCEL: validation.MessageExpression}
	if validation.Reason != nil {
		r.Class = rule.Class(*validation.Reason)
	}
	r.Created = validation.OptionalOldSelf != nil && *validation.OptionalOldSelf
	return r
}

// name names the rule in errors.
func (l located) name() string {
	version := ""
	if strings.HasPrefix(l.at.String(), "spec.versions") {
		version = "version " + l.version + ": "
	}
	if l.number == 0 {
		return version + "a rule that only the definition has: " + nameOf(l.rule)
	}
	return fmt.Sprintf("%srule %d: %s", version, l.number, nameOf(l.rule))
}

// nameOf returns the field and the beginning of the expression of a rule.
func nameOf(r rule.Rule) string {
	expression := strings.Join(strings.Fields(r.CEL), " ")
	if runes := []rune(expression); len(runes) > 40 {
		expression = string(runes[:40]) + "..."
	}
	if r.Path == "" {
		return fmt.Sprintf("the whole object (%s)", expression)
	}
	return fmt.Sprintf("%s (%s)", r.Path, expression)
}
