package rule

import (
	"cmp"
	"errors"
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Policy says for what a ValidatingAdmissionPolicy is.
type Policy struct {
	// Name is the name of the policy and of its binding. It is needed.
	Name string
	// Kind is the kind of the objects, and Resource the name of its resource, such as "shops". Both are needed.
	Kind     schema.GroupVersionKind
	Resource string
	// Actions are what happens to a request that breaks a rule; nil is Deny.
	Actions []admissionregistrationv1.ValidationAction
	// Objects and Namespaces limit the policy to objects whose labels match, and to namespaces whose labels match; nil
	// is all.
	Objects, Namespaces *metav1.LabelSelector
	// IgnoreFailures allows requests for which a rule can't be evaluated. By default they are denied.
	IgnoreFailures bool
}

// Policy returns a ValidatingAdmissionPolicy with the rules, and the binding that puts it into force. The message of a
// rule has the path of its field, since a policy has no other place for it. The error has all mistakes.
func (s Set) Policy(p Policy) (*admissionregistrationv1.ValidatingAdmissionPolicy, *admissionregistrationv1.ValidatingAdmissionPolicyBinding, error) {
	errs := []error{s.Validate()}
	if p.Name == "" || p.Kind.Version == "" || p.Resource == "" {
		errs = append(errs, errors.New("a policy needs a name, a kind with its version, and a resource"))
	}
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: admissionregistrationv1.SchemeGroupVersion.String(), Kind: "ValidatingAdmissionPolicy"},
		ObjectMeta: metav1.ObjectMeta{Name: p.Name},
	}
	failure := admissionregistrationv1.Fail
	if p.IgnoreFailures {
		failure = admissionregistrationv1.Ignore
	}
	policy.Spec.FailurePolicy = &failure
	policy.Spec.MatchConstraints = &admissionregistrationv1.MatchResources{
		ObjectSelector: p.Objects, NamespaceSelector: p.Namespaces,
		ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
			Rule:       admissionregistrationv1.Rule{APIGroups: []string{p.Kind.Group}, APIVersions: []string{p.Kind.Version}, Resources: []string{p.Resource}},
		}}},
	}
	for i, r := range s {
		if _, err := parsePath(r.Path); err != nil {
			continue // Validate reports it
		}
		validation, err := r.inPolicy()
		if err != nil {
			errs = append(errs, fmt.Errorf("rule %d (%s): %w", i+1, cut(r.CEL), err))
		}
		policy.Spec.Validations = append(policy.Spec.Validations, validation)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, nil, fmt.Errorf("policy %s: %w", p.Name, err)
	}
	return policy, p.binding(), nil
}

// binding returns the binding of the policy.
func (p Policy) binding() *admissionregistrationv1.ValidatingAdmissionPolicyBinding {
	actions := p.Actions
	if actions == nil {
		actions = []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny}
	}
	return &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		TypeMeta:   metav1.TypeMeta{APIVersion: admissionregistrationv1.SchemeGroupVersion.String(), Kind: "ValidatingAdmissionPolicyBinding"},
		ObjectMeta: metav1.ObjectMeta{Name: p.Name},
		Spec:       admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: p.Name, ValidationActions: actions},
	}
}

// inPolicy returns the rule in the form of a policy.
func (r Rule) inPolicy() (admissionregistrationv1.Validation, error) {
	steps, err := parsePath(r.Path)
	if err != nil {
		return admissionregistrationv1.Validation{}, err
	}
	expression, err := r.expression(steps)
	if err != nil {
		return admissionregistrationv1.Validation{}, err
	}
	invalid := metav1.StatusReasonInvalid
	validation := admissionregistrationv1.Validation{Expression: expression, Reason: &invalid, Message: r.Message}
	if r.Path != "" {
		validation.Message = r.Path + ": " + cmp.Or(r.Message, "a rule is broken")
	}
	if r.MessageCEL != "" {
		validation.MessageExpression, err = r.message(steps)
	}
	return validation, err
}
