package definition

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of definitions.
var GroupVersion = schema.GroupVersion{Group: "metacontroller.k8s.io", Version: "v1alpha1"}

// Style is the sort of a controller.
type Style string

// The styles. They are the kinds of definitions.
const (
	// Composite is a controller of the parents of one kind: its hooks return the children and the status of a parent.
	Composite Style = "CompositeController"
	// Decorator is a controller that adds to objects that have a controller already: its hooks return labels,
	// annotations, a status and attachments.
	Decorator Style = "DecoratorController"
)

// Controller is a definition.
type Controller struct {
	Style Style
	// Parents select the parents. A Composite has one.
	Parents []ParentRule
	// Children declare the kinds of children. Those of a Decorator are its attachments.
	Children []ChildRule
	Common
	// GenerateSelector: children are selected by a label with the uid of their parent, and not by the spec.selector of
	// the parent. It is for a Composite.
	GenerateSelector bool

	// Object is the definition as it was read. Hooks get it with each request.
	Object *unstructured.Unstructured
	// Dir is the folder of its file, empty if it has none.
	Dir string
}

// Name returns the kind and the name of the definition, for messages.
func (c *Controller) Name() string { return nameOf(c.Object) }

// Rolls reports whether children of a kind are updated one after the other.
func (c *Controller) Rolls() bool {
	return slices.ContainsFunc(c.Children, func(rule ChildRule) bool {
		return rule.Update != nil && strings.HasPrefix(rule.Update.Method, "Rolling")
	})
}

// compositeSpec is the spec of a Composite.
type compositeSpec struct {
	Parent           ParentRule  `json:"parentResource"`
	Children         []ChildRule `json:"childResources,omitempty"`
	Common           `json:",inline"`
	GenerateSelector bool `json:"generateSelector,omitempty"`
}

// decoratorSpec is the spec of a Decorator.
type decoratorSpec struct {
	Parents     []ParentRule `json:"resources"`
	Attachments []ChildRule  `json:"attachments,omitempty"`
	Common      `json:",inline"`
}

// Common is what the definitions have in common.
type Common struct {
	Hooks Hooks `json:"hooks"`
	// Endpoints has settings for all webhooks of a host.
	Endpoints []Endpoint `json:"endpointConfigs,omitempty"`
	// ResyncSeconds is the time after which all parents are synced again, nil or zero for never.
	ResyncSeconds *int32 `json:"resyncPeriodSeconds,omitempty"`
}

// Resource names a kind by the plural name of its resource.
type Resource struct {
	APIVersion string `json:"apiVersion"`
	Resource   string `json:"resource"`
}

// ParentRule selects parents.
type ParentRule struct {
	Resource      `json:",inline"`
	LabelSelector *metav1.LabelSelector `json:"labelSelector,omitempty"`
	// Annotations selects by annotations, for a Decorator only.
	Annotations *AnnotationSelector `json:"annotationSelector,omitempty"`
	// IgnoreStatusChanges: a change of the status alone brings no sync.
	IgnoreStatusChanges bool `json:"ignoreStatusChanges,omitempty"`
	// Revisions makes rolling updates follow changes of some fields only, for a Composite only.
	Revisions *Revisions `json:"revisionHistory,omitempty"`
}

// AnnotationSelector selects objects by their annotations, as a label selector does by labels.
type AnnotationSelector struct {
	MatchAnnotations map[string]string                 `json:"matchAnnotations,omitempty"`
	MatchExpressions []metav1.LabelSelectorRequirement `json:"matchExpressions,omitempty"`
}

// Revisions has the paths of the fields of a parent whose change begins a rolling update, such as spec.template.
// Without paths it is the spec. It has no effect if no kind of children is rolled.
type Revisions struct {
	FieldPaths []string `json:"fieldPaths,omitempty"`
}

// ChildRule declares a kind of children or attachments.
type ChildRule struct {
	Resource `json:",inline"`
	Update   *Update `json:"updateStrategy,omitempty"`
}

// Update says how existing children become the wanted ones.
type Update struct {
	// Method is OnDelete, Recreate, InPlace, RollingRecreate or RollingInPlace; empty means OnDelete.
	Method string `json:"method,omitempty"`
	// Checks are what updated children need before a rolling update goes on.
	Checks Checks `json:"statusChecks,omitzero"`
}

// Checks has the conditions of a child that does its work.
type Checks struct {
	Conditions []ConditionCheck `json:"conditions,omitempty"`
}

// ConditionCheck asks for a condition. A nil status or reason may be anything.
type ConditionCheck struct {
	Type   string  `json:"type"`
	Status *string `json:"status,omitempty"`
	Reason *string `json:"reason,omitempty"`
}
