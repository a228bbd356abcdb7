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

// GetObjectMeta implements metav1.ObjectMetaAccessor, by which a Reflector tells objects of a list apart.
func (l listed) GetObjectMeta() metav1.Object {
	return &metav1.ObjectMeta{Namespace: l.namespace, Name: l.name}
}

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
