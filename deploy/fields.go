package deploy

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// FieldsOf returns the values of obj that a field selector compares: of a dotted path, such as status.phase, the text
// of the string, bool or number there, and empty if there is none. The fields by which an API server selects have its
// values also where those aren't the object's own: a Node without spec.unschedulable has false, and status.successful
// of a Job is its status.succeeded. obj must not be changed meanwhile.
func FieldsOf(obj *unstructured.Unstructured) fields.Fields { return objectFields{obj} }

type objectFields struct{ *unstructured.Unstructured }

// selectableField is a field by which an API server selects, whose value isn't just that of its path.
type selectableField struct {
	kind schema.GroupKind
	path string
}

// selectableFields have the paths that are looked at, and what is taken for a value that isn't there.
var selectableFields = map[selectableField]struct {
	paths  []string
	absent string
}{
	{schema.GroupKind{Kind: "Node"}, "spec.unschedulable"}:               {[]string{"spec.unschedulable"}, "false"},
	{schema.GroupKind{Kind: "Pod"}, "spec.hostNetwork"}:                  {[]string{"spec.hostNetwork"}, "false"},
	{schema.GroupKind{Kind: "ReplicationController"}, "status.replicas"}: {[]string{"status.replicas"}, "0"},
	{schema.GroupKind{Group: "batch", Kind: "Job"}, "status.successful"}: {[]string{"status.succeeded"}, "0"},
	{schema.GroupKind{Kind: "Event"}, "source"}:                          {[]string{"source.component", "reportingComponent"}, ""},
}

// Has implements fields.Fields.
func (o objectFields) Has(path string) bool { return o.Get(path) != "" }

// Get implements fields.Fields.
func (o objectFields) Get(path string) string {
	special, known := selectableFields[selectableField{o.GroupVersionKind().GroupKind(), path}]
	if !known {
		return o.text(path)
	}
	for _, path := range special.paths {
		if text := o.text(path); text != "" {
			return text
		}
	}
	return special.absent
}

// text is the value of a path. Lists and maps have none.
func (o objectFields) text(path string) string {
	value, _, err := unstructured.NestedFieldNoCopy(o.Object, strings.Split(path, ".")...)
	if err != nil {
		return ""
	}
	switch value.(type) {
	case string, bool, int64, float64:
		return fmt.Sprint(value)
	}
	return ""
}
