package dryrun

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// view reads the memory of a Cluster.
type view struct{ *Cluster }

// Get implements deploy.View. The object is the caller's own copy.
func (v view) Get(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	if err := interrupted(ctx); err != nil {
		return nil, err
	}
	v.mu.RLock()
	stored := v.storage.get(addressOf(ref))
	v.mu.RUnlock()
	if stored == nil {
		return nil, nil
	}
	return shown(stored, ref.Kind), nil
}

// List implements deploy.View. The objects are the caller's own copies.
func (v view) List(ctx context.Context, kind schema.GroupVersionKind, namespace string, selector labels.Selector) ([]*unstructured.Unstructured, error) {
	if err := interrupted(ctx); err != nil {
		return nil, err
	}
	v.mu.RLock()
	stored := v.storage.ofKind(kind.GroupKind(), namespace)
	v.mu.RUnlock()
	var objects []*unstructured.Unstructured
	for _, obj := range stored {
		if selector == nil || selector.Matches(labels.Set(obj.GetLabels())) {
			objects = append(objects, shown(obj, kind))
		}
	}
	return objects, nil
}

// Subscribe implements deploy.View. Existing objects come first, in the order of their
// versions, and nothing between them and the first change is lost.
func (v view) Subscribe(ctx context.Context, kind schema.GroupVersionKind, handle func(deploy.Event)) (deploy.Subscription, error) {
	if err := interrupted(ctx); err != nil {
		return nil, err
	}
	s := newSubscription(ctx, kind, handle)
	v.mu.Lock()
	defer v.mu.Unlock()
	existing := v.storage.ofKind(kind.GroupKind(), "")
	slices.SortFunc(existing, func(a, b *unstructured.Unstructured) int {
		return cmp.Compare(versionOf(a), versionOf(b))
	})
	s.initial = len(existing)
	for _, obj := range existing {
		s.push(deploy.Event{Type: deploy.Added, New: obj})
	}
	v.subscriptions[s] = struct{}{}
	v.running.Go(func() {
		s.run()
		v.mu.Lock()
		defer v.mu.Unlock()
		delete(v.subscriptions, s)
	})
	return s, nil
}

// publish hands an event to the subscriptions of its kind. The lock is held.
func (c *Cluster) publish(at address, event deploy.Event) {
	for s := range c.subscriptions {
		if s.kind.GroupKind() == at.kind {
			s.push(event)
		}
	}
}

func versionOf(obj *unstructured.Unstructured) uint64 {
	// The storage itself has written it.
	version, _ := strconv.ParseUint(obj.GetResourceVersion(), 10, 64)
	return version
}
