package dryrun

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// view reads the memory of a Cluster.
type view struct{ *Cluster }

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
	return shared(stored, d), nil
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
	return selection(stored, d, shared, selector, nil), nil
}

// Subscribe implements deploy.View. Existing objects come first, in the order of their resourceVersions. The events
// that follow begin right after this state.
func (v view) Subscribe(ctx context.Context, kind schema.GroupVersionKind, handle func(deploy.Event)) (deploy.Subscription, error) {
	return v.Watch(ctx, kind, WatchOptions{}, handle)
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

// Holds reports whether a kind is read without a request. It returns true for every kind that is served.
func (v view) Holds(kind schema.GroupVersionKind, _ string) bool {
	_, err := v.declared(kind)
	return err == nil
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
		return selection(stored, d, shown, options.Labels, options.Fields), nil
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

// selection calls show for each stored object that the selectors match, and returns the results.
func selection(stored []*unstructured.Unstructured, d *declaration, show func(*unstructured.Unstructured, *declaration) *unstructured.Unstructured,
	byLabel labels.Selector, byField fields.Selector) []*unstructured.Unstructured {
	var objects []*unstructured.Unstructured
	for _, obj := range stored {
		if selected(obj, byLabel, byField) {
			objects = append(objects, show(obj, d))
		}
	}
	return objects
}

// selected reports whether the selectors match an object. A nil selector matches all objects.
func selected(obj *unstructured.Unstructured, byLabel labels.Selector, byField fields.Selector) bool {
	if byLabel != nil && !byLabel.Matches(labels.Set(obj.GetLabels())) {
		return false
	}
	return byField == nil || byField.Empty() || byField.Matches(deploy.FieldsOf(obj))
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
