package cluster

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"
)

// listed is an object of a list that comes as a stream, as it is going to be held: lists are what takes the most memory.
type listed struct {
	held
	namespace, name string
	owners          []string
}

func (h holder) listed(obj *unstructured.Unstructured) listed {
	return listed{h.hold(obj), obj.GetNamespace(), obj.GetName(), ownersOf(obj)}
}

// unversioned is what a Reflector's store asks of each object that it takes.
var unversioned = &metav1.ObjectMeta{}

// GetObjectMeta implements metav1.ObjectMetaAccessor: without it the store of a Reflector, which wants to know versions, would take
// objects for none.
func (l listed) GetObjectMeta() metav1.Object { return unversioned }

var _ cache.TransformingStore = (*informer)(nil)

// Transformer implements cache.TransformingStore.
func (i *informer) Transformer() cache.TransformFunc {
	holder := i.kind.feed.holder()
	return func(obj any) (any, error) {
		if obj, ok := obj.(*unstructured.Unstructured); ok {
			return holder.listed(obj), nil
		}
		return obj, nil
	}
}
