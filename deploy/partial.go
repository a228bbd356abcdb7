package deploy

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// PartialView is what a View offers beside that holds some kinds as metadata only, which takes a fraction
// of the memory: labels, annotations, owners, finalizers and who owns which field are all that a Manager
// needs to see that an object is as it should be. Where it needs more it reads that object from the cluster, and
// Result.Calls tells: for another strategy than applying; for another intent over fields that others hold, or for fields
// that are to be left to them; and, once for a kind after a restart, for a map or list that may have been emptied. Of
// such kinds Get and List of the View are requests to the cluster, and events bring objects without content.
type PartialView interface {
	View
	// Partial is Get where whole may be false: then the object, if there is one, has nothing but apiVersion, kind
	// and metadata.
	Partial(ctx context.Context, ref Ref) (obj *unstructured.Unstructured, whole bool, err error)
}

// glanced is what was seen of an object: nothing (nil), or all of it unless it is partial. An empty ref is that of
// nothing that was looked at. bare: of its kind the View holds metadata only, whether there is an object or not.
type glanced struct {
	ref           Ref
	object        *unstructured.Unstructured
	partial, bare bool
}

// glance is a read through the View of what is known of an object, tried again as requests are.
func (m *Manager) glance(ctx context.Context, retryFor time.Duration, ref Ref) (glanced, error) {
	view, ok := m.view.(PartialView)
	if !ok {
		object, err := m.read(ctx, retryFor, ref)
		if err != nil {
			return glanced{}, err
		}
		return glanced{ref: ref, object: object}, nil
	}
	return retry(ctx, retryFor, func() (glanced, error) {
		object, whole, err := view.Partial(ctx, ref)
		if err != nil {
			return glanced{}, err
		}
		return glanced{ref, object, object != nil && !whole, !whole}, nil
	})
}

// look is glance for the object of a task, once.
func (t *task) look(ctx context.Context, ref Ref) (*unstructured.Unstructured, error) {
	if t.seen.ref == ref {
		return t.seen.object, nil
	}
	seen, err := t.glance(ctx, t.retryFor, ref)
	if err == nil {
		t.seen, t.partial = seen, seen.partial
	}
	return seen.object, err
}

// complete reads the content of an object of which only metadata was seen, from the cluster.
func (t *task) complete(ctx context.Context, live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if live == nil || !t.partial {
		return live, nil
	}
	t.partial = false
	return t.port.Get(ctx, t.in.ref)
}
