package bundles

import (
	"context"
	"fmt"
	"time"

	v1 "github.com/operkit/operkit/tools/bench/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// look is the interval at which AwaitGone checks whether anything is left.
const look = 100 * time.Millisecond

// AwaitGone waits until there are no Bundles and no children of Bundles.
func (f *Fleet) AwaitGone(ctx context.Context) error {
	for {
		left, err := f.left(ctx)
		if err != nil {
			return err
		}
		if left == "" {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s aren't gone: %w", left, context.Cause(ctx))
		case <-time.After(look):
		}
	}
}

// left returns a kind that still has objects, or "". The API server answers these requests from its cache.
func (f *Fleet) left(ctx context.Context) (string, error) {
	options := metav1.ListOptions{LabelSelector: ours.LabelSelector, Limit: 1}
	var bundles v1.BundleList
	err := f.bundles.Get().Namespace(f.namespace).Resource(plural).SpecificallyVersionedParams(&metav1.ListOptions{Limit: 1}, metav1.ParameterCodec, metav1.Unversioned).Do(ctx).Into(&bundles)
	if err != nil || len(bundles.Items) > 0 {
		return "bundles", err
	}
	if list, err := f.children.AppsV1().ReplicaSets(f.namespace).List(ctx, options); err != nil || len(list.Items) > 0 {
		return "replica sets", err
	}
	if list, err := f.children.AppsV1().Deployments(f.namespace).List(ctx, options); err != nil || len(list.Items) > 0 {
		return "deployments", err
	}
	if list, err := f.children.CoreV1().ConfigMaps(f.namespace).List(ctx, options); err != nil || len(list.Items) > 0 {
		return "config maps", err
	}
	if list, err := f.children.CoreV1().Services(f.namespace).List(ctx, options); err != nil || len(list.Items) > 0 {
		return "services", err
	}
	if list, err := f.children.CoreV1().ServiceAccounts(f.namespace).List(ctx, options); err != nil || len(list.Items) > 0 {
		return "service accounts", err
	}
	return "", nil
}
