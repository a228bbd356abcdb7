package temporarypatch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Patches implements reconcile.Patcher: the patches that the annotation of resource names, in the order of
// priority, time and name (spec: patches 15-18, mistakes 9 and 10). One that can't be used is left out with a
// warning in the log; the entry of one that is gone is removed (spec: patches mistakes 7 and 8).
func (c *Controller) Patches(ctx context.Context, resource *unstructured.Unstructured, view deploy.View) ([]reconcile.Patch, error) {
	found, err := parseEntries(resource, c.key())
	if err != nil {
		return nil, err
	}
	var patches []*patch
	for _, name := range slices.Sorted(maps.Keys(found)) {
		e, _, err := found.get(name)
		if err != nil {
			return nil, fmt.Errorf("annotation %s: %w", c.key(), err)
		}
		p, err := c.patchOf(ctx, resource, view, name, e)
		if err != nil {
			return nil, err
		}
		if p != nil {
			patches = append(patches, p)
		}
	}
	slices.SortFunc(patches, func(a, b *patch) int {
		return cmp.Or(cmp.Compare(a.spec.Priority, b.spec.Priority), a.since.Compare(b.since), cmp.Compare(a.name, b.name))
	})
	out := make([]reconcile.Patch, len(patches))
	for i, p := range patches {
		out[i] = p
	}
	return out, nil
}

// patchOf reads the patch of one entry, nil if it isn't to be applied.
func (c *Controller) patchOf(ctx context.Context, resource *unstructured.Unstructured, view deploy.View, name string, e entry) (*patch, error) {
	log := c.logger(resource).With("patch", name)
	kind, err := e.kind()
	if err != nil {
		return nil, fmt.Errorf("annotation %s: entry %s: %w", c.key(), name, err)
	}
	ref := deploy.Ref{Kind: kind, Namespace: resource.GetNamespace(), Name: name}
	obj, err := c.find(ctx, view, ref)
	var unknown *deploy.KindUnknownError
	switch {
	case errors.As(err, &unknown):
		log.Warn("temporary patch ignored: its kind isn't served", "kind", kind.String())
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("patch %s: %w", name, err)
	case obj == nil:
		log.Warn("temporary patch ignored: it is gone")
		c.board.forget(types.UID(e.UID))
		c.prune(ctx, resource, ref)
		return nil, nil
	}
	decoded, content, err := decode(obj)
	switch {
	case err != nil:
		log.Warn("temporary patch ignored", "error", err)
	case obj.GetDeletionTimestamp() != nil, expired(decoded, c.options.now()):
		// Its entry is about to be removed.
	case !names(decoded.Spec, resource):
		log.Warn("temporary patch ignored: it names another target", "target", decoded.Spec.Kind+" "+decoded.Spec.Name)
	default:
		since, ok := e.time()
		if !ok {
			since = obj.GetCreationTimestamp().Time
		}
		return &patch{
			controller: c, view: view, name: name, since: since, spec: decoded.Spec, bodies: content, run: c.board.begin(decoded, content),
		}, nil
	}
	return nil, nil
}

// names tells whether a patch is for resource. The versions of a kind are the same resources.
func names(spec TemporaryPatchSpec, resource *unstructured.Unstructured) bool {
	version, err := schema.ParseGroupVersion(spec.APIVersion)
	kind := resource.GroupVersionKind()
	return err == nil && version.Group == kind.Group && spec.Kind == kind.Kind && spec.Name == resource.GetName()
}

// find reads a patch. Only the cluster itself is believed that there is none: to render the target without
// one that is merely not seen yet would undo it.
func (c *Controller) find(ctx context.Context, view deploy.View, ref deploy.Ref) (*unstructured.Unstructured, error) {
	obj, err := view.Get(ctx, ref)
	if obj != nil || err != nil {
		return obj, err
	}
	obj, err = c.manager.Port().Get(ctx, ref)
	var absent *deploy.NotFoundError
	if errors.As(err, &absent) {
		return nil, nil
	}
	return obj, err
}

// prune takes the entry of a patch that is gone off its target. If that fails the entry is ignored all the
// same, and it is tried again.
func (c *Controller) prune(ctx context.Context, resource *unstructured.Unstructured, ref deploy.Ref) {
	_, err := c.edit(ctx, resource, func(found entries) (bool, error) {
		e, exists, err := found.get(ref.Name)
		if kind, _ := e.kind(); !exists || err != nil || kind != ref.Kind {
			return false, nil
		}
		delete(found, ref.Name)
		return true, nil
	})
	if err != nil {
		c.logger(resource).Warn("the entry of a temporary patch that is gone isn't removed", "patch", ref.Name, "error", err)
	}
}

// patch is one patch for one reconcile of its target.
type patch struct {
	controller *Controller
	view       deploy.View
	name       string
	since      time.Time
	spec       TemporaryPatchSpec
	bodies     bodies
	run        *run
}

// Name implements reconcile.Patch.
func (p *patch) Name() string { return p.name }
