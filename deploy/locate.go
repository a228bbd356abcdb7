package deploy

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Locate returns the full name of obj: a namespaced object without a namespace is in the
// owner's (OwnedBy). What can't be an object at all is an *InvalidManifestError.
func (m *Manager) Locate(ctx context.Context, obj *unstructured.Unstructured, options ...Option) (Ref, error) {
	s, err := m.settings.with(options)
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
	if err := validate(obj, ref); err != nil {
		return ref, "", err
	}
	scope, err := m.port.Scope(ctx, ref.Kind)
	if err != nil {
		return ref, "", err
	}
	namespace, err := namespaceOf(ref, scope, s.owner)
	if err != nil {
		return ref, scope, err
	}
	ref.Namespace = namespace
	return ref, scope, nil
}

func validate(obj *unstructured.Unstructured, ref Ref) error {
	invalid := func(reason string) error { return &InvalidManifestError{Ref: ref, Reason: reason} }
	_, malformed := schema.ParseGroupVersion(obj.GetAPIVersion())
	switch {
	case obj.GetKind() == "":
		return invalid("kind is missing")
	case obj.GetAPIVersion() == "":
		return invalid("apiVersion is missing")
	case malformed != nil:
		return invalid(fmt.Sprintf("apiVersion %q is no group and version", obj.GetAPIVersion()))
	case obj.IsList():
		return invalid("it is a list: pass its items one by one")
	case obj.GetName() == "" && obj.GetGenerateName() != "":
		return invalid("generateName can't be applied: give it a name")
	case obj.GetName() == "":
		return invalid("metadata.name is missing")
	}
	return nil
}

func namespaceOf(ref Ref, scope Scope, owner *unstructured.Unstructured) (string, error) {
	switch {
	case scope == ClusterScoped && ref.Namespace != "":
		return "", &InvalidManifestError{Ref: ref, Reason: "its kind is cluster-scoped: leave metadata.namespace out"}
	case scope == ClusterScoped || ref.Namespace != "":
		return ref.Namespace, nil
	case owner != nil && owner.GetNamespace() != "":
		return owner.GetNamespace(), nil
	}
	return "", &InvalidManifestError{Ref: ref, Reason: "metadata.namespace is missing"}
}
