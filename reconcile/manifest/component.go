package manifest

import (
	"slices"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Component is a component as it is rendered.
type Component struct {
	// Name is what the controller calls it.
	Name string
	// Disabled: its objects are deleted rather than applied.
	Disabled bool
	// Objects are in the order of their deployment.
	Objects []*unstructured.Unstructured
}

// Of returns the component that an observer gets, see reconcile.ObserveComponents. Its objects are copies. They have
// their namespaces, but no fields that only a cluster can set, such as the uid of an owner.
func Of(c *reconcile.Component, results deploy.Results) Component {
	component := Component{Name: c.Name(), Disabled: c.Disabled()}
	for _, object := range c.Objects() {
		component.Objects = append(component.Objects, presentable(object, results))
	}
	return component
}

// ofCluster are the fields of metadata that are valid in one cluster only: if an owner has a uid of another cluster,
// the garbage collector deletes the object.
var ofCluster = []string{"uid", "resourceVersion", "managedFields", "ownerReferences", "creationTimestamp", "generation"}

func presentable(object *unstructured.Unstructured, results deploy.Results) *unstructured.Unstructured {
	clean := object.DeepCopy()
	ref := deploy.RefOf(object)
	at := slices.IndexFunc(results, func(r deploy.Result) bool {
		return r.Ref.Kind == ref.Kind && r.Ref.Name == ref.Name && (ref.Namespace == "" || r.Ref.Namespace == ref.Namespace)
	})
	if at >= 0 {
		clean.SetNamespace(results[at].Ref.Namespace)
	}
	for _, field := range ofCluster {
		unstructured.RemoveNestedField(clean.Object, "metadata", field)
	}
	delete(clean.Object, "status")
	return clean
}

// HasSecrets reports whether something of the component would be masked.
func (c Component) HasSecrets() bool { return slices.ContainsFunc(c.Objects, masks) }
