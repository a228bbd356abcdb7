package deploy

import (
	"encoding/json"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Ref names one object of a cluster. The namespace of a cluster-scoped object is empty.
// Refs are comparable and may be map keys.
type Ref struct {
	// Kind, Namespace and Name are those of the object.
	Kind      schema.GroupVersionKind
	Namespace string
	Name      string
}

// RefOf returns the name of obj as it stands in the object itself.
func RefOf(obj *unstructured.Unstructured) Ref {
	return Ref{Kind: kindOf(obj), Namespace: metadataText(obj, "namespace"), Name: metadataText(obj, "name")}
}

// kindOf is what GroupVersionKind of obj answers.
func kindOf(obj *unstructured.Unstructured) schema.GroupVersionKind {
	apiVersion, _ := obj.Object["apiVersion"].(string)
	group, version, grouped := strings.Cut(apiVersion, "/")
	if strings.Contains(version, "/") {
		return obj.GroupVersionKind() // which says what is to become of it
	}
	if !grouped {
		group, version = "", apiVersion
	}
	kind, _ := obj.Object["kind"].(string)
	return schema.GroupVersionKind{Group: group, Version: version, Kind: kind}
}

// metadataText is a text in the metadata of obj, empty if there is none. It is what the getters of obj answer, without
// what they do for fields at any depth.
func metadataText(obj *unstructured.Unstructured, field string) string {
	metadata, _ := obj.Object["metadata"].(map[string]any)
	text, _ := metadata[field].(string)
	return text
}

// annotation is the value of an annotation of obj, empty if there is none.
func annotation(obj *unstructured.Unstructured, key string) string {
	metadata, _ := obj.Object["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	text, _ := annotations[key].(string)
	return text
}

// MarshalJSON is the form of logs as JSON: apiVersion, kind, namespace and name.
func (r Ref) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Namespace  string `json:"namespace,omitempty"`
		Name       string `json:"name"`
	}{r.Kind.GroupVersion().String(), r.Kind.Kind, r.Namespace, r.Name})
}

// String is the form in which messages name an object: "Deployment shop/web", or
// "Namespace shop" for a cluster-scoped one.
func (r Ref) String() string {
	if r.Namespace == "" {
		return r.Kind.Kind + " " + r.Name
	}
	return r.Kind.Kind + " " + r.Namespace + "/" + r.Name
}
