package deploy

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// PartialView is what a View offers beside that holds some kinds as metadata only, which takes a fraction
// of the memory: labels, annotations, owners, finalizers and who owns which field are all that a Manager
// needs to see that an object is as it should be. Where it needs more (a field that may have been
// emptied, fields that others hold, another strategy than applying) it reads that object from the
// cluster, and Result.Calls tells. Of such kinds Get and List of the View are requests to the cluster, and
// events bring objects without content.
type PartialView interface {
	View
	// Partial is Get where whole may be false: then the object has nothing but apiVersion, kind and
	// metadata.
	Partial(ctx context.Context, ref Ref) (obj *unstructured.Unstructured, whole bool, err error)
}

// glance is a read through the View of what is known of an object, tried again as requests are.
func (m *Manager) glance(ctx context.Context, s settings, ref Ref) (obj *unstructured.Unstructured, whole bool, err error) {
	view, ok := m.view.(PartialView)
	if !ok {
		obj, err = m.read(ctx, s, ref)
		return obj, true, err
	}
	obj, err = retry(ctx, s.retryFor, func() (*unstructured.Unstructured, error) {
		var seen *unstructured.Unstructured
		seen, whole, err = view.Partial(ctx, ref)
		return seen, err
	})
	return obj, whole || obj == nil, err
}

// look is glance for the object of a task, once.
func (t *task) look(ctx context.Context, ref Ref) (*unstructured.Unstructured, error) {
	if t.looked == ref {
		return t.seen, nil
	}
	live, whole, err := t.glance(ctx, t.settings, ref)
	if err == nil {
		t.seen, t.partial, t.looked = live, !whole, ref
	}
	return live, err
}

// complete reads the content of an object of which only metadata was seen, from the cluster.
func (t *task) complete(ctx context.Context, live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if live == nil || !t.partial {
		return live, nil
	}
	t.partial = false
	live, err := t.port.Get(ctx, t.in.ref)
	if isNotFound(err) {
		return nil, nil
	}
	return live, err
}
