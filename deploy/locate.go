package deploy

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Namespace returns where namespaced objects are that name no namespace: in the owner's (OwnedBy), else in the
// DefaultNamespace. Empty: there is none, and such objects are an *InvalidManifestError.
func (m *Manager) Namespace() string { return m.settings.home() }

// home is the namespace of namespaced objects that name none.
func (s *settings) home() string {
	if s.owner != nil && s.owner.GetNamespace() != "" {
		return s.owner.GetNamespace()
	}
	return s.namespace
}

// Locate returns the full name of obj: a namespaced object without a namespace is in that of Namespace. What can't be an
// object at all is an *InvalidManifestError.
func (m *Manager) Locate(ctx context.Context, obj *unstructured.Unstructured, options ...Option) (Ref, error) {
	s, err := m.settings.forCall(options)
	if err != nil {
		return Ref{}, err
	}
	ref, _, err := m.locate(ctx, s, obj)
	return ref, err
}

// locate is Locate, and returns the scope of the kind too.
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

// generates tells whether obj is to be made under a name that the cluster generates.
func (s settings) generates(obj *unstructured.Unstructured, ref Ref) bool {
	strategy, err := s.strategyOf(obj, ref)
	return err == nil && strategy == CreateOnly && obj.GetName() == "" && obj.GetGenerateName() != ""
}

func validate(obj *unstructured.Unstructured, ref Ref, generates bool) error {
	invalid := func(reason string) error { return &InvalidManifestError{Ref: ref, Reason: reason} }
	_, malformed := schema.ParseGroupVersion(obj.GetAPIVersion())
	if _, isMap := obj.Object["metadata"].(map[string]any); !isMap && obj.Object["metadata"] != nil {
		return invalid("metadata is no map")
	}
	for _, field := range []string{"name", "namespace", "generateName"} {
		if _, _, err := unstructured.NestedString(obj.Object, "metadata", field); err != nil {
			return invalid("metadata." + field + " is no text: quote it")
		}
	}
	switch {
	case obj.GetKind() == "":
		return invalid("kind is missing")
	case obj.GetAPIVersion() == "":
		return invalid("apiVersion is missing")
	case malformed != nil:
		return invalid(fmt.Sprintf("apiVersion %q is no group and version", obj.GetAPIVersion()))
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
