package ruletest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/operkit/operkit/reconcile/admission/rule"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/cel/environment"
)

// Policy is a set of rules as a ValidatingAdmissionPolicy, compiled. It may be used concurrently.
type Policy struct {
	set      rule.Set
	policy   rule.Policy
	spec     admissionregistrationv1.ValidatingAdmissionPolicySpec
	denies   bool
	objects  labels.Selector
	compiled cel.ConditionEvaluator
	messages cel.ConditionEvaluator
	// definition is the definition of the kind, nil if it isn't known.
	definition *Definition
}

// The variables that the API server declares for the expressions of a policy without parameters.
var (
	ruleVariables    = cel.OptionalVariableDeclarations{HasAuthorizer: true}
	messageVariables = cel.OptionalVariableDeclarations{}
)

// CompilePolicy compiles the policy with the rules of a set as the API server does when it is created. The error has
// all mistakes: those of rule.Set.Policy, and those that the API server finds, with the number of the rule in the set
// and its field.
//
// A policy doesn't know the types of fields, so a rule that compares a number with a text, for example, fails when it
// is evaluated.
func CompilePolicy(set rule.Set, policy rule.Policy, opts ...Option) (*Policy, error) {
	o, err := optionsOf(opts)
	if err != nil {
		return nil, err
	}
	object, binding, err := set.Policy(policy)
	if err != nil {
		return nil, err
	}
	p := &Policy{
		set: slices.Clone(set), policy: policy, spec: object.Spec, objects: labels.Everything(),
		denies: slices.Contains(binding.Spec.ValidationActions, admissionregistrationv1.Deny),
	}
	present := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
	errs := p.mistakes(present, "")
	if o.environment != nil && len(errs) == 0 {
		errs = p.mistakes(o.environment, "Kubernetes "+o.oldest+" refuses it: ")
	}
	if policy.Objects != nil {
		p.objects, err = metav1.LabelSelectorAsSelector(policy.Objects)
		errs = append(errs, err)
	}
	if o.definition != nil {
		p.definition, err = CompileDefinition(nil, o.definition)
		errs = append(errs, err, p.fits())
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("policy %s: %w", policy.Name, err)
	}
	return p, p.compile(present)
}

// fits returns an error if the definition is about another kind.
func (p *Policy) fits() error {
	if p.definition != nil && (p.definition.kind != p.policy.Kind.GroupKind() || p.definition.versions[p.policy.Kind.Version] == nil) {
		return fmt.Errorf("option Schema: the definition is about %s and has no %s", p.definition.kind, p.policy.Kind)
	}
	return nil
}

// mistakes returns what can't be compiled.
func (p *Policy) mistakes(set *environment.EnvSet, prefix string) (errs []error) {
	compiler := cel.NewCompiler(set) // the API server declares variables only for policies that have some
	report := func(i int, accessor cel.ExpressionAccessor, variables cel.OptionalVariableDeclarations) {
		if result := compiler.CompileCELExpression(accessor, variables, environment.NewExpressions); result.Error != nil {
			errs = append(errs, fmt.Errorf("rule %d: %s: %s%s", i+1, nameOf(p.set[i]), prefix, strings.TrimSpace(result.Error.Detail)))
		}
	}
	for i, one := range p.spec.Validations {
		report(i, &validating.ValidationCondition{Expression: one.Expression}, ruleVariables)
		if one.MessageExpression != "" {
			report(i, &validating.MessageExpressionCondition{MessageExpression: one.MessageExpression}, messageVariables)
		}
	}
	return errs
}

// compile compiles the policy as the API server does when it begins to evaluate it.
func (p *Policy) compile(set *environment.EnvSet) error {
	compiler, err := cel.NewCompositedCompiler(set)
	if err != nil {
		return err
	}
	conditions, messages := make([]cel.ExpressionAccessor, len(p.set)), make([]cel.ExpressionAccessor, len(p.set))
	for i, one := range p.spec.Validations {
		conditions[i] = &validating.ValidationCondition{Expression: one.Expression, Message: one.Message, Reason: one.Reason}
		if one.MessageExpression != "" {
			messages[i] = &validating.MessageExpressionCondition{MessageExpression: one.MessageExpression}
		}
	}
	p.compiled = compiler.CompileCondition(conditions, ruleVariables, environment.StoredExpressions)
	p.messages = compiler.CompileCondition(messages, messageVariables, environment.StoredExpressions)
	return nil
}
