package cluster

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"
)

// feeds are the two ways to list and watch: whole objects, or their metadata.
type feeds struct {
	objects  dynamic.Interface
	headers  metadata.Interface
	requests *requests
}

// feed is one of them.
type feed struct {
	// client is asked by client-go for what it is capable of, example what it brings.
	client  any
	example runtime.Object
	list    func(ctx context.Context, at schema.GroupVersionResource, namespace string, options metav1.ListOptions) (runtime.Object, error)
	watch   func(ctx context.Context, at schema.GroupVersionResource, namespace string, options metav1.ListOptions) (watch.Interface, error)
}

func (s feeds) whole(known known) feed {
	return feed{
		client: s.objects, example: &unstructured.Unstructured{},
		list: func(ctx context.Context, at schema.GroupVersionResource, namespace string, options metav1.ListOptions) (runtime.Object, error) {
			return s.objects.Resource(at).Namespace(namespace).List(ctx, options)
		},
		watch: func(ctx context.Context, at schema.GroupVersionResource, namespace string, options metav1.ListOptions) (watch.Interface, error) {
			return s.requests.watch(ctx, at, namespace, options, known)
		},
	}
}

func (s feeds) partial() feed {
	return feed{
		client: s.headers, example: &metav1.PartialObjectMetadata{},
		list: func(ctx context.Context, at schema.GroupVersionResource, namespace string, options metav1.ListOptions) (runtime.Object, error) {
			return s.headers.Resource(at).Namespace(namespace).List(ctx, options)
		},
		watch: func(ctx context.Context, at schema.GroupVersionResource, namespace string, options metav1.ListOptions) (watch.Interface, error) {
			return s.headers.Resource(at).Namespace(namespace).Watch(ctx, options)
		},
	}
}

// asKind turns metadata into an object of kind that has nothing else.
func asKind(kind schema.GroupVersionKind) cache.TransformFunc {
	return func(brought any) (any, error) {
		header, ok := brought.(*metav1.PartialObjectMetadata)
		if !ok {
			return brought, nil
		}
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(header)
		if err != nil {
			return nil, fmt.Errorf("%s %s/%s: metadata: %w", kind.Kind, header.Namespace, header.Name, err)
		}
		obj := &unstructured.Unstructured{Object: content}
		obj.SetGroupVersionKind(kind)
		return obj, nil
	}
}
