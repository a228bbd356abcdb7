package proxy

import (
	"encoding/json"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// The annotations that name the owner of an object where a reference can't: the names are those that operator-sdk uses.
const (
	OwnerName = "operator-sdk/primary-resource"
	OwnerKind = "operator-sdk/primary-resource-type"
)

// owner is the owner of the objects of a run.
type owner struct {
	kind            schema.GroupVersionKind
	namespace, name string
	uid             types.UID
}

// newOwner returns the owner, or an error with everything that it lacks.
func newOwner(of *unstructured.Unstructured) (owner, error) {
	if of == nil {
		return owner{}, errors.New("grant: nil Owner")
	}
	o := owner{of.GroupVersionKind(), of.GetNamespace(), of.GetName(), of.GetUID()}
	var errs []error
	for field, value := range map[string]string{"apiVersion": o.kind.Version, "kind": o.kind.Kind, "metadata.name": o.name, "metadata.uid": string(o.uid)} {
		if value == "" {
			errs = append(errs, fmt.Errorf("grant: Owner %s %s: no %s", o.kind.Kind, o.name, field))
		}
	}
	return o, errors.Join(errs...)
}

// String returns the owner as in "CatSet.example.com default/tom".
func (o owner) String() string { return o.kind.GroupKind().String() + " " + o.path() }

// path returns the name, with the namespace if there is one.
func (o owner) path() string {
	return types.NamespacedName{Namespace: o.namespace, Name: o.name}.String()
}

// refers reports whether objects in a namespace, empty for those without one, can refer to the owner. Others get
// annotations.
func (o owner) refers(namespace string) bool { return o.namespace == "" || o.namespace == namespace }

// owns reports whether an object refers to the owner.
func (o owner) owns(object *metav1.PartialObjectMetadata) bool {
	for _, reference := range object.OwnerReferences {
		if reference.UID == o.uid {
			return true
		}
	}
	return object.Annotations[OwnerName] == o.path() && object.Annotations[OwnerKind] == o.kind.GroupKind().String()
}

// annotations name the owner where a reference can't.
func (o owner) annotations() map[string]string {
	return map[string]string{OwnerName: o.path(), OwnerKind: o.kind.GroupKind().String()}
}

// reference refers to the owner. It is no controller, as an object may have a controller of its own.
func (o owner) reference() metav1.OwnerReference {
	apiVersion, kind := o.kind.ToAPIVersionAndKind()
	return metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: o.name, UID: o.uid}
}

// addReference adds a reference, unless there is one. References to others stay as they are.
func (o owner) addReference(metadata document) error {
	var references []json.RawMessage
	if err := decode(metadata["ownerReferences"], "metadata.ownerReferences", &references); err != nil {
		return err
	}
	for _, reference := range references {
		var has struct {
			UID types.UID `json:"uid"`
		}
		if err := decode(reference, "metadata.ownerReferences", &has); err != nil {
			return err
		}
		if has.UID == o.uid {
			return nil
		}
	}
	references = append(references, encode(o.reference()))
	metadata["ownerReferences"] = encode(references)
	return nil
}
