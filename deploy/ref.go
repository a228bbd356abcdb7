package deploy

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Ref names one object of a cluster. The namespace of a cluster-scoped object is empty.
// Refs are comparable and may be map keys.
type Ref struct {
	Kind      schema.GroupVersionKind
	Namespace string
	Name      string
}

// RefOf returns the name of obj as it stands in the object itself.
func RefOf(obj *unstructured.Unstructured) Ref {
	return Ref{Kind: obj.GroupVersionKind(), Namespace: obj.GetNamespace(), Name: obj.GetName()}
}

// String is the form in which messages name an object: "Deployment shop/web", or
// "Namespace shop" for a cluster-scoped one.
func (r Ref) String() string {
	if r.Namespace == "" {
		return r.Kind.Kind + " " + r.Name
	}
	return r.Kind.Kind + " " + r.Namespace + "/" + r.Name
}
