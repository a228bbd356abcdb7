package selection

import (
	"fmt"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Selection selects the objects that match both selectors. A nil selector matches all objects.
type Selection struct {
	Labels labels.Selector
	Fields fields.Selector
}

// Check returns an error if a selector matches no object at all. A request can't express such a selector.
func (s Selection) Check(kind schema.GroupKind) error {
	if s.Labels != nil && !s.Labels.Empty() && s.Labels.String() == "" || s.Fields != nil && !s.Fields.Empty() && s.Fields.String() == "" {
		return fmt.Errorf("selected %s: the selector matches no object: use another selector, or nil for all objects", kind)
	}
	return nil
}

// All reports whether all objects are selected.
func (s Selection) All() bool {
	return (s.Labels == nil || s.Labels.Empty()) && (s.Fields == nil || s.Fields.Empty())
}

// Options returns the selection as the options of a list. It is empty for a selection of all objects.
func (s Selection) Options() deploy.ListOptions {
	return deploy.ListOptions{Labels: s.Labels, Fields: s.Fields}
}

// MatchesLabels reports whether the label selector matches obj.
func (s Selection) MatchesLabels(obj *unstructured.Unstructured) bool {
	return s.Labels == nil || s.Labels.Matches(labels.Set(obj.GetLabels()))
}

// Matches reports whether both selectors match obj. See deploy.FieldsOf for the values of fields.
func (s Selection) Matches(obj *unstructured.Unstructured) bool {
	return s.MatchesLabels(obj) && (s.Fields == nil || s.Fields.Empty() || s.Fields.Matches(deploy.FieldsOf(obj)))
}

// Creatable returns an error if a write could create an object that the View wouldn't show. A write with a uid or a
// resourceVersion changes only an existing object.
func (s Selection) Creatable(ref deploy.Ref, obj *unstructured.Unstructured) error {
	if s.Matches(obj) || obj.GetUID() != "" || obj.GetResourceVersion() != "" {
		return nil
	}
	return &deploy.InvalidManifestError{Ref: ref, Reason: fmt.Sprintf(
		"only objects of its kind that match %s are watched: add the label or field, or use a Cluster without Selected", s)}
}

// With returns the selection of the objects that byLabel selects, too. nil selects all.
func (s Selection) With(byLabel labels.Selector) Selection {
	if byLabel == nil {
		return s
	}
	if requirements, selectable := byLabel.Requirements(); s.Labels != nil && selectable {
		byLabel = s.Labels.Add(requirements...)
	}
	s.Labels = byLabel
	return s
}

// Texts returns the selectors as the parameters of a request. A selector that matches all objects is empty.
func (s Selection) Texts() (byLabel, byField string) {
	if s.Labels != nil {
		byLabel = s.Labels.String()
	}
	if s.Fields != nil {
		byField = s.Fields.String()
	}
	return byLabel, byField
}

// String returns the selectors, such as "tier=web". It is empty for a selection of all objects.
func (s Selection) String() string {
	byLabel, byField := s.Texts()
	if byLabel != "" && byField != "" {
		return byLabel + " and " + byField
	}
	return byLabel + byField
}
