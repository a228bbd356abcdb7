package manifest

import (
	"slices"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Component is a component as it is rendered.
type Component struct {
	// Name is the name that the controller gave the component.
	Name string
	// Disabled: its objects are deleted rather than applied.
	Disabled bool
	// Objects are in the order of their deployment.
	Objects []*unstructured.Unstructured
}

// Of converts the arguments of an observer, see reconcile.ObserveComponents, into a Component. The objects are copies.
// Their namespaces are filled in, and fields that only a cluster can set are removed, such as owner references with
// their uids.
func Of(c *reconcile.Component, results deploy.Results) Component {
	component := Component{Name: c.Name(), Disabled: c.Disabled()}
	for _, object := range c.Objects() {
		component.Objects = append(component.Objects, presentable(object, results))
	}
	return component
}

// ofCluster are the fields of metadata that are valid only in the cluster that set them. For example, the garbage
// collector deletes an object whose owner reference has the uid of an object in another cluster.
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

// HasSecrets reports whether the component has an object with values that Mask replaces.
func (c Component) HasSecrets() bool { return slices.ContainsFunc(c.Objects, masks) }
