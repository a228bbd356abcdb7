package dryrun

import (
	"context"
	"fmt"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

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

// selects refuses a selection by a field that a server can't select by.
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

// selection are the stored objects that selectors select, each as show hands it to somebody who asked for
// the kind of a declaration.
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

// selected tells whether an object is one of those that selectors select; nil selects all.
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
