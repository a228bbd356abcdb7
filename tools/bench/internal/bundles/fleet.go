package bundles

import (
	"context"
	"fmt"
	"sync"

	v1 "github.com/operkit/operkit/tools/bench/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// hands is how many requests run at the same time.
const hands = 16

// plural is the name of the resource in paths.
const plural = "bundles"

// Fleet manages the Bundles of a namespace. Its methods must not be called concurrently.
type Fleet struct {
	namespace string
	bundles   rest.Interface
	children  kubernetes.Interface
}

// New returns the Fleet of a namespace, which may have none yet.
func New(config *rest.Config, namespace string) (*Fleet, error) {
	scheme := runtime.NewScheme()
	if err := v1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	own := rest.CopyConfig(config)
	own.GroupVersion, own.APIPath, own.QPS = &v1.GroupVersion, "/apis", -1
	own.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	client, err := rest.RESTClientFor(own)
	if err != nil {
		return nil, err
	}
	children, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return &Fleet{namespace: namespace, bundles: client, children: children}, nil
}

// Name is the name of Bundle n.
func Name(n int) string { return fmt.Sprintf("b%05d", n) }

// Message returns the message of Bundle n in an edition.
func Message(n, edition int) string { return fmt.Sprintf("hello %d, edition %d", n, edition) }

// Create creates the Bundles from one number up to another.
func (f *Fleet) Create(ctx context.Context, from, to int) error {
	return each(ctx, from, to, func(n int) error {
		bundle := &v1.Bundle{
			ObjectMeta: metav1.ObjectMeta{Name: Name(n), Namespace: f.namespace},
			Spec:       v1.BundleSpec{Size: int32(n % 5), Message: Message(n, 1)},
		}
		bundle.SetGroupVersionKind(v1.BundleKind)
		return f.bundles.Post().Namespace(f.namespace).Resource(plural).Body(bundle).Do(ctx).Error()
	})
}

// Edit sets the messages of an edition in the Bundles from one number up to another.
func (f *Fleet) Edit(ctx context.Context, from, to, edition int) error {
	return each(ctx, from, to, func(n int) error {
		body := fmt.Appendf(nil, `{"spec":{"message":%q}}`, Message(n, edition))
		return f.bundles.Patch(types.MergePatchType).Namespace(f.namespace).Resource(plural).Name(Name(n)).Body(body).Do(ctx).Error()
	})
}

// Delete deletes the Bundles from one number up to another.
func (f *Fleet) Delete(ctx context.Context, from, to int) error {
	return each(ctx, from, to, func(n int) error {
		return f.bundles.Delete().Namespace(f.namespace).Resource(plural).Name(Name(n)).Do(ctx).Error()
	})
}

// each calls do for the numbers, several at once, until one fails.
func each(ctx context.Context, from, to int, do func(n int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	numbers := make(chan int)
	var working sync.WaitGroup
	for range hands {
		working.Go(func() {
			for n := range numbers {
				if err := do(n); err != nil {
					cancel(fmt.Errorf("bundle %s: %w", Name(n), err))
				}
			}
		})
	}
	for n := from; n < to && ctx.Err() == nil; n++ {
		numbers <- n
	}
	close(numbers)
	working.Wait()
	return context.Cause(ctx)
}
