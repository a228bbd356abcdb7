package dryrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/internal/selection"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// view reads the memory of a Cluster.
type view struct {
	*Cluster
	selected selections
}

var _ deploy.OwnedView = view{}

// Get implements deploy.View. It returns the stored object. Stored objects are never changed: a write stores a new one.
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
	return shared(stored, d)
}

// List implements deploy.View. It returns the stored objects.
func (v view) List(ctx context.Context, kind schema.GroupVersionKind, namespace string, selector labels.Selector) ([]*unstructured.Unstructured, error) {
	return v.read(ctx, kind, namespace, selector, v.storage.ofVersion)
}

// Owned implements deploy.OwnedView. It returns the stored objects.
func (v view) Owned(ctx context.Context, kind schema.GroupVersionKind, namespace string, owner types.UID) ([]*unstructured.Unstructured, error) {
	return v.read(ctx, kind, namespace, nil, func(d *declaration, namespace string) []*unstructured.Unstructured {
		return v.storage.owned(d, namespace, owner)
	})
}

// read calls find under the lock, and returns the objects of its result that the selector matches.
func (v view) read(ctx context.Context, kind schema.GroupVersionKind, namespace string, selector labels.Selector,
	find func(d *declaration, namespace string) []*unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	if err := interrupted(ctx, VerbList, deploy.Ref{Kind: kind, Namespace: namespace}); err != nil {
		return nil, err
	}
	d, err := v.declared(kind)
	if err != nil {
		return nil, err
	}
	v.mu.RLock()
	stored := find(d, namespace)
	v.mu.RUnlock()
	chosen := v.selected[kind.GroupKind()].With(selector)
	return matching(stored, d, shared, chosen)
}

// Subscribe implements deploy.View. Existing objects come first, in the order of their resourceVersions. The events
// that follow begin right after this state.
func (v view) Subscribe(ctx context.Context, kind schema.GroupVersionKind, handle func(deploy.Event)) (deploy.Subscription, error) {
	chosen := v.selected[kind.GroupKind()]
	return v.watch(ctx, kind, WatchOptions{Labels: chosen.Labels, Fields: chosen.Fields}, deploy.Left, handle)
}

// publish sends an event to the subscriptions of its kind. The lock is held.
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
	// The storage has written the resourceVersion, so it is a number.
	version, _ := strconv.ParseUint(obj.GetResourceVersion(), 10, 64)
	return version
}

// Holds reports whether a kind is read without a request. It returns true for every kind that is served, unless only
// some of its objects are shown (Cluster.Selected).
func (v view) Holds(kind schema.GroupVersionKind, _ string) bool {
	_, err := v.declared(kind)
	return err == nil && v.selected[kind.GroupKind()].All()
}

// List implements deploy.Port, as one request.
func (p port) List(ctx context.Context, kind schema.GroupVersionKind, namespace string, options deploy.ListOptions) ([]*unstructured.Unstructured, error) {
	call := Call{Verb: VerbList, Ref: deploy.Ref{Kind: kind, Namespace: namespace}}
	return request(ctx, p.Cluster, call, nil, func() ([]*unstructured.Unstructured, error) {
		d, err := p.declared(kind)
		if err != nil {
			return nil, err
		}
		if err := d.selects(call.Ref, options.Fields); err != nil {
			return nil, err
		}
		p.mu.RLock()
		stored := p.storage.ofVersion(d, namespace)
		p.mu.RUnlock()
		return matching(stored, d, shown, selection.Selection{Labels: options.Labels, Fields: options.Fields})
	})
}

// selects returns an error if a field selector names a field by which a server can't select.
func (d *declaration) selects(ref deploy.Ref, byField fields.Selector) error {
	if byField == nil {
		return nil
	}
	for _, requirement := range byField.Requirements() {
		if !d.selectableBy(requirement.Field) {
			return &deploy.InvalidError{Ref: ref, Err: fmt.Errorf("field label not supported: %s", requirement.Field)}
		}
	}
	return nil
}

// matching calls show for each stored object that the selectors match, and returns the results.
func matching(stored []*unstructured.Unstructured, d *declaration, show func(*unstructured.Unstructured, *declaration) (*unstructured.Unstructured, error),
	chosen selection.Selection) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for _, obj := range stored {
		if chosen.Matches(obj) {
			seen, err := show(obj, d)
			if failed, ok := errors.AsType[*deploy.UnavailableError](err); ok {
				return nil, &deploy.UnavailableError{Err: failed.Err} // about the whole list
			}
			if err != nil {
				return nil, err
			}
			objects = append(objects, seen)
		}
	}
	return objects, nil
}

// Kinds implements deploy.Port.
func (p port) Kinds(ctx context.Context, name string) ([]schema.GroupVersionKind, error) {
	call := Call{Verb: VerbDiscover, Ref: deploy.Ref{Kind: schema.GroupVersionKind{Kind: name}}}
	return request(ctx, p.Cluster, call, nil, func() ([]schema.GroupVersionKind, error) {
		p.mu.RLock()
		defer p.mu.RUnlock()
		return p.kinds.called(name), nil
	})
}
