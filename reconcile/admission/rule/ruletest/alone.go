package ruletest

import (
	"strings"

	"github.com/operkit/operkit/reconcile/admission/rule"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
)

// alone evaluates one rule. The API server's errors don't name their rule, so each rule is evaluated alone, too.
type alone struct {
	// rule is nil for the rules inside of an allOf, which belong to the definition and are evaluated together.
	rule       *rule.Rule
	structural *schema.Structural
	// validator is nil if there are no rules.
	validator *schemacel.Validator
}

// newAlone returns what evaluates one of the rules of a schema, or for nil those inside of its allOf.
func newAlone(structural *schema.Structural, l *located) alone {
	one := alone{structural: structural.DeepCopy()}
	if l != nil {
		one.rule = &l.rule
	}
	keepOnly(one.structural, "", l)
	one.validator = schemacel.NewValidator(one.structural, true, celconfig.PerCallLimit)
	return one
}

// keepOnly removes all rules from a schema but one, or for nil but those inside of an allOf. path is the path of the
// schema.
func keepOnly(s *schema.Structural, path string, l *located) {
	if l != nil && path == l.rule.Path && l.index < len(s.XValidations) {
		s.XValidations = s.XValidations[l.index : l.index+1]
	} else {
		s.XValidations = nil
	}
	for name := range s.Properties {
		property := s.Properties[name]
		keepOnly(&property, strings.TrimPrefix(path+"."+name, "."), l)
		s.Properties[name] = property
	}
	if s.Items != nil {
		keepOnly(s.Items, path+"[*]", l)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil {
		keepOnly(s.AdditionalProperties.Structural, path+"{*}", l)
	}
	if l != nil && s.ValueValidation != nil {
		for i := range s.ValueValidation.AllOf {
			s.ValueValidation.AllOf[i].XValidations = nil
		}
	}
}

// evaluate evaluates the rules of a validator for an object, and for the one before an update.
func evaluate(validator *schemacel.Validator, structural *schema.Structural, object, before map[string]any) (errs field.ErrorList, cost int64) {
	ctx, remaining := unbounded(), int64(0)
	if before == nil {
		errs, remaining = validator.Validate(ctx, nil, structural, object, nil, celconfig.RuntimeCELCostBudget)
	} else {
		correlated := common.NewCorrelatedObject(object, before, &model.Structural{Structural: structural})
		errs, remaining = validator.Validate(ctx, nil, structural, object, before, celconfig.RuntimeCELCostBudget, schemacel.WithRatcheting(correlated))
	}
	if remaining < 0 {
		return errs, celconfig.RuntimeCELCostBudget
	}
	return errs, celconfig.RuntimeCELCostBudget - remaining
}
