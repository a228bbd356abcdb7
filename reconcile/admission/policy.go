package admission

import (
	"errors"
	"fmt"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// policy is what the API server needs to know about the webhooks of a kind. The zero value has the defaults.
type policy struct {
	suffix      string
	ignore      bool
	sideEffects bool
	again       bool
	timeout     time.Duration
	objects     *metav1.LabelSelector
	namespaces  *metav1.LabelSelector
	conditions  []admissionregistrationv1.MatchCondition
}

// KindOption is an option of New, for all functions of the Hooks. nil is ignored.
type KindOption func(*policy)

// Named tells several Hooks of one kind apart, for example if only some functions may be left out while no operator
// runs (IgnoreFailures). name is part of the names of the webhooks: use a-z, 0-9 and hyphens.
func Named(name string) KindOption { return func(p *policy) { p.suffix = name } }

// IgnoreFailures allows requests that no operator answers, for example while all its replicas are down. By default they
// are denied.
func IgnoreFailures() KindOption { return func(p *policy) { p.ignore = true } }

// SideEffects declares that a function changes something besides its answer, unless Request.DryRun is set. Without the
// option the webhooks are declared to have no side effects.
func SideEffects() KindOption { return func(p *policy) { p.sideEffects = true } }

// Reinvoke calls the mutators again if another webhook, which comes after them, has changed the object.
func Reinvoke() KindOption { return func(p *policy) { p.again = true } }

// Within sets how long the API server waits for an answer, in whole seconds from 1 to 30; default 10 seconds.
func Within(time time.Duration) KindOption { return func(p *policy) { p.timeout = time } }

// Objects limits the webhooks to objects whose labels match, before or after the change. The API server decides it, so
// that other objects cost no call. A user who may change the labels can avoid the webhooks.
func Objects(selector metav1.LabelSelector) KindOption {
	return func(p *policy) { p.objects = &selector }
}

// Namespaces limits the webhooks to objects in namespaces whose labels match.
func Namespaces(selector metav1.LabelSelector) KindOption {
	return func(p *policy) { p.namespaces = &selector }
}

// If adds a condition in CEL: the webhooks are called only for requests for which all conditions are true. The API
// server decides it. The expression has the variables object, oldObject, request and authorizer. name is for its
// errors: use a-z, 0-9 and hyphens.
//
//	admission.If("size-changes", "oldObject == null || object.spec.size != oldObject.spec.size")
func If(name, expression string) KindOption {
	return func(p *policy) {
		p.conditions = append(p.conditions, admissionregistrationv1.MatchCondition{Name: name, Expression: expression})
	}
}

// mistakes returns the mistakes of the options.
func (p *policy) mistakes() (errs []error) {
	if p.suffix != "" && !nameForm.MatchString(p.suffix) {
		errs = append(errs, fmt.Errorf("name %q: use a-z, 0-9 and hyphens", p.suffix))
	}
	if p.timeout != 0 && (p.timeout < time.Second || p.timeout > 30*time.Second || p.timeout%time.Second != 0) {
		errs = append(errs, fmt.Errorf("within %s: use whole seconds from 1 to 30", p.timeout))
	}
	for _, selector := range []*metav1.LabelSelector{p.objects, p.namespaces} {
		if _, err := metav1.LabelSelectorAsSelector(selector); err != nil {
			errs = append(errs, fmt.Errorf("selector: %w", err))
		}
	}
	names := map[string]bool{}
	for _, condition := range p.conditions {
		switch {
		case !nameForm.MatchString(condition.Name):
			errs = append(errs, fmt.Errorf("condition %q: the name isn't valid: use a-z, 0-9 and hyphens", condition.Name))
		case names[condition.Name]:
			errs = append(errs, fmt.Errorf("condition %s: is there twice", condition.Name))
		case condition.Expression == "":
			errs = append(errs, fmt.Errorf("condition %s: has no expression", condition.Name))
		}
		names[condition.Name] = true
	}
	if len(p.conditions) > 64 {
		errs = append(errs, errors.New("more than 64 conditions: the API server takes no more"))
	}
	return errs
}
