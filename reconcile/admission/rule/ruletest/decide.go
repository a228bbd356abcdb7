package ruletest

import (
	"context"
	"fmt"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/authentication/user"
)

// Create returns the verdict on the creation of an object: an Unstructured, a map or a typed object with apiVersion and
// kind. It returns an error if the object isn't of the policy's kind. Without the option Schema the object is evaluated
// as it is, so it should have the defaults that the API server sets.
func (p *Policy) Create(object any) (Verdict, error) {
	created, err := p.read(object)
	if err != nil {
		return Verdict{}, err
	}
	if p.definition != nil {
		request, err := p.definition.create(created)
		if err != nil || !request.verdict.Accepted {
			return request.verdict, err
		}
		verdict, err := p.decide(request.object, nil)
		verdict.Warnings = append(request.verdict.Warnings, verdict.Warnings...)
		return verdict, err
	}
	asStored(created, nil, created.GetNamespace() != "")
	return p.decide(created, nil)
}

// Update returns the verdict on an update. before is the object as it is stored, which may break rules.
func (p *Policy) Update(before, object any) (Verdict, error) {
	old, err := p.read(before)
	if err != nil {
		return Verdict{}, fmt.Errorf("object before the update: %w", err)
	}
	updated, err := p.read(object)
	if err != nil {
		return Verdict{}, err
	}
	if p.definition != nil {
		request, err := p.definition.update(old, updated, false)
		if err != nil || !request.verdict.Accepted {
			return request.verdict, err
		}
		verdict, err := p.decide(request.object, request.before)
		verdict.Warnings = append(request.verdict.Warnings, verdict.Warnings...)
		return verdict, err
	}
	asStored(updated, old, old.GetNamespace() != "")
	return p.decide(updated, old)
}

// read returns an object of the policy's kind.
func (p *Policy) read(object any) (*unstructured.Unstructured, error) {
	content, err := unstructuredOf(object)
	if err != nil {
		return nil, err
	}
	if kind := content.GroupVersionKind(); kind != p.policy.Kind {
		return nil, fmt.Errorf("object %s of %s: the policy is about %s", content.GetName(), kind, p.policy.Kind)
	}
	return content, nil
}

// metered is an evaluator that remembers what it cost.
type metered struct {
	cel.ConditionEvaluator
	cost int64
}

// ForInput implements cel.ConditionEvaluator.
func (m *metered) ForInput(ctx context.Context, attributes *admission.VersionedAttributes, request *admissionv1.AdmissionRequest,
	inputs cel.OptionalVariableBindings, namespace *corev1.Namespace, budget int64,
) ([]cel.EvaluationResult, int64, error) {
	results, remaining, err := m.ConditionEvaluator.ForInput(ctx, attributes, request, inputs, namespace, budget)
	if m.cost = budget - remaining; remaining < 0 {
		m.cost = budget
	}
	return results, remaining, err
}

// decide evaluates the rules.
func (p *Policy) decide(object, before *unstructured.Unstructured) (Verdict, error) {
	if !p.objects.Matches(labels.Set(object.GetLabels())) && (before == nil || !p.objects.Matches(labels.Set(before.GetLabels()))) {
		return Verdict{Accepted: true}, nil
	}
	operation, options, old := admission.Create, runtime.Object(&metav1.CreateOptions{}), runtime.Object(nil)
	if before != nil {
		operation, options, old = admission.Update, &metav1.UpdateOptions{}, before
	}
	resource := p.policy.Kind.GroupVersion().WithResource(p.policy.Resource)
	attributes, err := admission.NewVersionedAttributes(admission.NewAttributesRecord(object, old, p.policy.Kind, object.GetNamespace(), object.GetName(),
		resource, "", operation, options, false, &user.DefaultInfo{Name: "ruletest"}), p.policy.Kind, nil)
	if err != nil {
		return Verdict{}, err
	}
	var namespace *corev1.Namespace
	if object.GetNamespace() != "" {
		namespace = &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: object.GetNamespace()}}
	}
	rules := &metered{ConditionEvaluator: p.compiled}
	validator := validating.NewValidator(rules, nil, cel.NewCondition(nil), p.messages, p.spec.FailurePolicy, nil)
	result := validator.Validate(unbounded(), resource, attributes, nil, namespace, celconfig.RuntimeCELCostBudget, nil)
	return p.verdict(result.Decisions, rules.cost), nil
}

// verdict returns the verdict of decisions: one for each rule, or a single one if the budget is spent.
func (p *Policy) verdict(decisions []validating.PolicyDecision, cost int64) Verdict {
	verdict := Verdict{Accepted: true, Cost: cost}
	for i, decision := range decisions {
		if decision.Evaluation == validating.EvalAdmit {
			continue
		}
		b := Broken{Message: decision.Message, Text: decision.Message, Reason: string(decision.Reason), Failed: decision.Evaluation == validating.EvalError}
		if len(decisions) == len(p.set) && (len(p.set) > 1 || !spent(decision)) {
			b.Rule, b.Field = &p.set[i], p.set[i].Path
			b.Message = strings.TrimPrefix(b.Message, b.Field+": ")
		}
		if decision.Action != validating.ActionDeny {
			verdict.Ignored = append(verdict.Ignored, b)
			continue
		}
		verdict.Broken = append(verdict.Broken, b)
		verdict.Accepted = verdict.Accepted && !p.denies
	}
	return verdict
}

// spent reports whether a decision is about the cost of all rules.
func spent(decision validating.PolicyDecision) bool {
	return decision.Evaluation == validating.EvalError && strings.Contains(decision.Message, "cost budget")
}
