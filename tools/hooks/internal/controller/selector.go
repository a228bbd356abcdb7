package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/tools/hooks/internal/definition"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

// generatedLabel is the label of children with the uid of their parent, if the definition generates selectors.
const generatedLabel = "controller-uid"

// selects returns the function that selects the parents of a rule, nil if it selects all of their kind.
func selects(rule definition.ParentRule) (func(parent *Parent) bool, error) {
	if rule.LabelSelector == nil && rule.Annotations == nil {
		return nil, nil //nolint:nilnil // all parents
	}
	byLabels := labels.Everything()
	if rule.LabelSelector != nil { // without a selector, LabelSelectorAsSelector selects nothing
		var err error
		if byLabels, err = metav1.LabelSelectorAsSelector(rule.LabelSelector); err != nil {
			return nil, err
		}
	}
	byAnnotations, err := rule.Annotations.Selector()
	return func(parent *Parent) bool {
		return byLabels.Matches(labels.Set(parent.GetLabels())) && byAnnotations.Matches(labels.Set(parent.GetAnnotations()))
	}, err
}

// fieldsOf are the fields of definitions that declare kinds of children, and the fields of answers that have children.
var fieldsOf = map[definition.Style]struct{ declared, returned string }{
	definition.Composite: {"childResources", "children"}, definition.Decorator: {"attachments", "attachments"},
}

// admit returns an error for a child of a kind that isn't declared. Of a Composite, it adds the generated label to
// children, and a child that its parent doesn't select is an error: the parent would lose it at once.
func (s *syncer) admit(parent *Parent, children []*unstructured.Unstructured) error {
	fields := fieldsOf[s.definition.Style]
	for i, child := range children {
		if kind := child.GroupVersionKind(); !slices.Contains(s.kinds, kind) {
			return fmt.Errorf("%s[%d]: %s %s of %s: spec.%s doesn't have this kind: add its resource in this version",
				fields.returned, i, kind.Kind, child.GetName(), kind.GroupVersion(), fields.declared)
		}
	}
	if s.definition.Style == definition.Decorator {
		return nil
	}
	selector, err := s.selector(parent)
	if err != nil {
		return err
	}
	chosen, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return err
	}
	for i, child := range children {
		if s.definition.GenerateSelector {
			all := child.GetLabels()
			if all[generatedLabel] == "" {
				all = labels.Merge(all, labels.Set{generatedLabel: string(parent.GetUID())})
			}
			child.SetLabels(all)
		}
		if !chosen.Matches(labels.Set(child.GetLabels())) {
			return fmt.Errorf("%s[%d]: %s %s: its labels don't match the selector of the parent, %s", fields.returned, i, child.GetKind(), child.GetName(), chosen)
		}
	}
	return nil
}

// adopts returns the selector of the orphans that a parent adopts.
func (s *syncer) adopts(_ context.Context, parent *Parent) (*metav1.LabelSelector, error) {
	return s.selector(parent)
}

// selector returns the selector of the children of a parent.
func (s *syncer) selector(parent *Parent) (*metav1.LabelSelector, error) {
	if s.definition.GenerateSelector {
		return &metav1.LabelSelector{MatchLabels: map[string]string{generatedLabel: string(parent.GetUID())}}, nil
	}
	selector := &metav1.LabelSelector{}
	content, found, err := unstructured.NestedMap(parent.Object, "spec", "selector")
	if err == nil && found {
		err = runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(content, selector, true)
	}
	if err != nil {
		return nil, request.Permanent(fmt.Errorf("spec.selector: %w", err))
	}
	if len(selector.MatchLabels) == 0 && len(selector.MatchExpressions) == 0 {
		return nil, request.Permanent(errors.New("spec.selector: needs matchLabels or matchExpressions, or generateSelector in the CompositeController"))
	}
	return selector, nil
}
