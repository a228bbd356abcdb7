package deploy

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Ref identifies an object of a cluster. The namespace of a cluster-scoped object is empty. Refs are comparable and may
// be map keys.
type Ref struct {
	// Kind, Namespace and Name are the kind, namespace and name of the object.
	Kind      schema.GroupVersionKind
	Namespace string
	Name      string
}

// RefOf returns the Ref of obj, with the namespace and name from its metadata.
func RefOf(obj *unstructured.Unstructured) Ref {
	return Ref{Kind: kindOf(obj), Namespace: metadataText(obj, "namespace"), Name: metadataText(obj, "name")}
}

// kindOf returns the same as obj.GroupVersionKind(), but is faster.
func kindOf(obj *unstructured.Unstructured) schema.GroupVersionKind {
	apiVersion, _ := obj.Object["apiVersion"].(string)
	group, version, grouped := strings.Cut(apiVersion, "/")
	if strings.Contains(version, "/") {
		return obj.GroupVersionKind() // it handles invalid values
	}
	if !grouped {
		group, version = "", apiVersion
	}
	kind, _ := obj.Object["kind"].(string)
	return schema.GroupVersionKind{Group: group, Version: version, Kind: kind}
}

// metadataText returns a string in the metadata of obj, "" if there is none. It is faster than the getters of obj,
// which look up a path.
func metadataText(obj *unstructured.Unstructured, field string) string {
	metadata, _ := obj.Object["metadata"].(map[string]any)
	text, _ := metadata[field].(string)
	return text
}

// annotation returns an annotation of obj, empty if there is none.
func annotation(obj *unstructured.Unstructured, key string) string {
	metadata, _ := obj.Object["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	text, _ := annotations[key].(string)
	return text
}

// MarshalJSON returns the form for logs: apiVersion, kind, namespace and name.
func (r Ref) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Namespace  string `json:"namespace,omitempty"`
		Name       string `json:"name"`
	}{r.Kind.GroupVersion().String(), r.Kind.Kind, r.Namespace, r.Name})
}

// String returns the form for messages: "Deployment shop/web", or "Namespace shop" for a cluster-scoped object.
func (r Ref) String() string {
	if r.Namespace == "" {
		return r.Kind.Kind + " " + r.Name
	}
	return r.Kind.Kind + " " + r.Namespace + "/" + r.Name
}

// Namespace returns the namespace of namespaced objects whose manifest names none: the namespace of the owner (OwnedBy)
// or else the DefaultNamespace. If it is empty, the error for such objects is an *InvalidManifestError.
func (m *Manager) Namespace() string { return m.settings.home() }

// home returns the namespace of namespaced objects whose manifest names none.
func (s *settings) home() string {
	if s.owner != nil && s.owner.GetNamespace() != "" {
		return s.owner.GetNamespace()
	}
	return s.namespace
}

// Locate returns the Ref of obj. If the manifest of a namespaced object names no namespace, Locate sets the owner's
// namespace or the DefaultNamespace. If obj is invalid, the error is an *InvalidManifestError.
func (m *Manager) Locate(ctx context.Context, obj *unstructured.Unstructured, options ...Option) (Ref, error) {
	s, err := m.settings.forCall(options)
	if err != nil {
		return Ref{}, err
	}
	ref, _, err := m.locate(ctx, s, obj)
	return ref, err
}

// locate is like Locate, and also returns the scope of the kind.
func (m *Manager) locate(ctx context.Context, s settings, obj *unstructured.Unstructured) (Ref, Scope, error) {
	if obj == nil || obj.Object == nil {
		return Ref{}, "", &InvalidManifestError{Reason: "the object is nil"}
	}
	ref := RefOf(obj)
	if err := validate(obj, ref, s.generates(obj, ref)); err != nil {
		return ref, "", err
	}
	scope, err := m.requests(s).Scope(ctx, ref.Kind)
	if err != nil {
		return ref, "", err
	}
	namespace, err := s.namespaceOf(ref, scope)
	if err != nil {
		return ref, scope, err
	}
	ref.Namespace = namespace
	return ref, scope, nil
}

// generates reports whether obj will be created with a generated name.
func (s settings) generates(obj *unstructured.Unstructured, ref Ref) bool {
	strategy, err := s.strategyOf(obj, ref)
	return err == nil && strategy == CreateOnly && obj.GetName() == "" && obj.GetGenerateName() != ""
}

func validate(obj *unstructured.Unstructured, ref Ref, generates bool) error {
	invalid := func(reason string) error { return &InvalidManifestError{Ref: ref, Reason: reason} }
	_, malformed := schema.ParseGroupVersion(obj.GetAPIVersion())
	if _, isMap := obj.Object["metadata"].(map[string]any); !isMap && obj.Object["metadata"] != nil {
		return invalid("metadata isn't a map")
	}
	for _, field := range []string{"name", "namespace", "generateName"} {
		if _, _, err := unstructured.NestedString(obj.Object, "metadata", field); err != nil {
			return invalid("metadata." + field + " isn't a string: quote it")
		}
	}
	switch {
	case obj.GetKind() == "":
		return invalid("kind is missing")
	case obj.GetAPIVersion() == "":
		return invalid("apiVersion is missing")
	case malformed != nil:
		return invalid(fmt.Sprintf("apiVersion %q isn't a group and version", obj.GetAPIVersion()))
	case obj.IsList():
		return invalid("it is a list: pass its items one by one")
	case generates:
		return nil
	case obj.GetName() == "" && obj.GetGenerateName() != "":
		return invalid("generateName can't be applied: give it a name, or use the strategy CreateOnly")
	case obj.GetName() == "":
		return invalid("metadata.name is missing")
	}
	return nil
}

func (s settings) namespaceOf(ref Ref, scope Scope) (string, error) {
	switch {
	case scope == ClusterScoped && ref.Namespace != "":
		return "", &InvalidManifestError{Ref: ref, Reason: "its kind is cluster-scoped: leave metadata.namespace out"}
	case scope == ClusterScoped || ref.Namespace != "":
		return ref.Namespace, nil
	}
	if namespace := s.home(); namespace != "" {
		return namespace, nil
	}
	return "", &InvalidManifestError{Ref: ref, Reason: "metadata.namespace is missing"}
}
