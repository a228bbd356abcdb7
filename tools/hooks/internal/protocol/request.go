package protocol

import (
	"encoding/json"

	"github.com/operkit/operkit/tools/hooks/internal/definition"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// names are the names of the fields that differ between the styles.
var names = map[definition.Style]struct{ parent, children string }{
	definition.Composite: {"parent", "children"}, definition.Decorator: {"object", "attachments"},
}

// Group has the objects of one kind. A hook gets each declared kind, also without objects.
type Group struct {
	Kind    schema.GroupVersionKind
	Objects []*unstructured.Unstructured
}

// Request is what a sync or finalize hook is asked.
type Request struct {
	// Controller is the definition, and Parent the object that the hook is called for.
	Controller, Parent *unstructured.Unstructured
	// Children are the observed children or attachments, and Related the related objects, by kind.
	Children, Related []Group
	// Finalizing: it is the call of a finalize hook.
	Finalizing bool
}

// Encode returns the JSON of a request. The same request gives the same bytes. In version v1, the hook of a parent with
// a namespace gets only objects of this namespace.
func (r Request) Encode(style definition.Style, version definition.Version) ([]byte, error) {
	return json.Marshal(map[string]any{
		"controller": r.Controller.Object, names[style].parent: r.Parent.Object,
		names[style].children: byName(version, r.Parent, r.Children), "related": byName(version, r.Parent, r.Related),
		"finalizing": r.Finalizing,
	})
}

// EncodeCustomize returns the JSON of the request of a customize hook.
func EncodeCustomize(controller, parent *unstructured.Unstructured) ([]byte, error) {
	return json.Marshal(map[string]any{"controller": controller.Object, "parent": parent.Object})
}

// byName returns the objects by kind, such as Deployment.apps/v1, and by name. The names are those of version v1:
// without a namespace if the parent has one; or those of v2: with the namespace of the object.
func byName(version definition.Version, parent *unstructured.Unstructured, groups []Group) map[string]map[string]any {
	all := map[string]map[string]any{}
	isNarrow := version == definition.V1 && parent.GetNamespace() != ""
	for _, group := range groups {
		apiVersion, kind := group.Kind.ToAPIVersionAndKind()
		key := kind + "." + apiVersion
		if all[key] == nil {
			all[key] = map[string]any{}
		}
		for _, obj := range group.Objects {
			switch {
			case !isNarrow && obj.GetNamespace() != "":
				all[key][obj.GetNamespace()+"/"+obj.GetName()] = obj.Object
			case !isNarrow || obj.GetNamespace() == parent.GetNamespace():
				all[key][obj.GetName()] = obj.Object
			}
		}
	}
	return all
}
