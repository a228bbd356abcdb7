package desired

import (
	"fmt"

	"github.com/operkit/operkit/reconcile/desired/internal/objects"
	"github.com/operkit/operkit/reconcile/internal/typed"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Objects are objects as they were observed, by kind. Of and Get return copies, List and Find typed ones. The zero
// value is empty.
type Objects struct{ set objects.Set }

// Collect returns Objects, for tests of a Sync. If several have one kind, namespace and name, the last one counts.
func Collect(all ...*unstructured.Unstructured) Objects { return Objects{objects.Collect(all...)} }

// Of returns the objects of a kind, ascending by namespace and name.
func (o Objects) Of(kind schema.GroupVersionKind) []*unstructured.Unstructured {
	shared := o.set.Of(kind)
	copies := make([]*unstructured.Unstructured, len(shared))
	for i, obj := range shared {
		copies[i] = obj.DeepCopy()
	}
	return copies
}

// Get returns the object of a kind with a name, or "namespace/name", and nil if there is none. If several namespaces
// have an object of that name, it returns the first one.
func (o Objects) Get(kind schema.GroupVersionKind, name string) *unstructured.Unstructured {
	if obj := o.set.Named(kind, name); obj != nil {
		return obj.DeepCopy()
	}
	return nil
}

// Len returns the number of objects of all kinds.
func (o Objects) Len() int { return o.set.Len() }

// List returns the objects of a kind as values of C, a struct that encoding/json decodes objects into, such as
// corev1.Pod. They are copies, ascending by namespace and name. The error names an object that C can't hold.
func List[C any](from Objects, kind schema.GroupVersionKind) ([]*C, error) {
	found := from.set.Of(kind)
	list := make([]*C, len(found))
	for i, obj := range found {
		value, err := typed.Decode[C](obj.Object)
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", kind.Kind, err)
		}
		list[i] = value
	}
	return list, nil
}

// Find is Objects.Get for a value of C, as for List. It returns nil without an error if there is no such object.
func Find[C any](from Objects, kind schema.GroupVersionKind, name string) (*C, error) {
	obj := from.set.Named(kind, name)
	if obj == nil {
		return nil, nil
	}
	return typed.Decode[C](obj.Object)
}
