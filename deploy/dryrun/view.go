package dryrun

import (
	"cmp"
	"context"
	"strconv"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// view reads the memory of a Cluster.
type view struct{ *Cluster }

var _ deploy.OwnedView = view{}

// Get implements deploy.View. The object is the stored one, which never changes: a write stores another.
func (v view) Get(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	if err := interrupted(ctx, VerbGet, ref); err != nil {
		return nil, err
	}
	d, err := v.declared(ref.Kind)
	if err != nil {
		return nil, err
	}
	v.mu.RLock()
	stored := v.live(d, addressOf(ref))
	v.mu.RUnlock()
	if stored == nil {
		return nil, nil
	}
	return shared(stored, d), nil
}

// List implements deploy.View. The objects are the stored ones.
func (v view) List(ctx context.Context, kind schema.GroupVersionKind, namespace string, selector labels.Selector) ([]*unstructured.Unstructured, error) {
	if err := interrupted(ctx, VerbList, deploy.Ref{Kind: kind, Namespace: namespace}); err != nil {
		return nil, err
	}
	d, err := v.declared(kind)
	if err != nil {
		return nil, err
	}
	v.mu.RLock()
	stored := v.storage.ofVersion(d, namespace)
	v.mu.RUnlock()
	return selection(stored, d, shared, selector, nil), nil
}

// Owned implements deploy.OwnedView. The objects are the stored ones.
func (v view) Owned(ctx context.Context, kind schema.GroupVersionKind, namespace string, owner types.UID) ([]*unstructured.Unstructured, error) {
	if err := interrupted(ctx, VerbList, deploy.Ref{Kind: kind, Namespace: namespace}); err != nil {
		return nil, err
	}
	d, err := v.declared(kind)
	if err != nil {
		return nil, err
	}
	v.mu.RLock()
	stored := v.storage.owned(d, namespace, owner)
	v.mu.RUnlock()
	return selection(stored, d, shared, nil, nil), nil
}

// Subscribe implements deploy.View. Existing objects come first, in the order of their
// versions, and nothing between them and the first change is lost.
func (v view) Subscribe(ctx context.Context, kind schema.GroupVersionKind, handle func(deploy.Event)) (deploy.Subscription, error) {
	return v.Watch(ctx, kind, WatchOptions{}, handle)
}

// publish hands an event to the subscriptions of its kind. The lock is held.
func (c *Cluster) publish(at address, event deploy.Event) {
	c.history.add(at.kind, event)
	for s := range c.subscriptions {
		if s.declared.kind.GroupKind() == at.kind && c.shows(s.declared) {
			s.push(event)
		}
	}
}

func byVersion(a, b *unstructured.Unstructured) int { return cmp.Compare(versionOf(a), versionOf(b)) }

func versionOf(obj *unstructured.Unstructured) uint64 {
	// The storage itself has written it.
	version, _ := strconv.ParseUint(obj.GetResourceVersion(), 10, 64)
	return version
}

// Holds reports whether a kind is read without a request, which is so of all that are declared.
func (v view) Holds(kind schema.GroupVersionKind, _ string) bool {
	_, err := v.declared(kind)
	return err == nil
}
