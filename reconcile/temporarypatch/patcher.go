package temporarypatch

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/patching"
	"github.com/operkit/operkit/smp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Patches implements patching.Patcher: it returns the patches that the annotation of the target names, in the order of
// priority, time and name. An unusable patch is left out with a warning in the log; the entry of a patch that is gone
// is removed. A dry run writes nothing, reads only the View, and isn't reported in the status of the patches.
func (c *Controller) Patches(ctx context.Context, target patching.Target) ([]patching.Patch, error) {
	found, err := parseEntries(target.Resource, c.key())
	if err != nil {
		return nil, err
	}
	if target.Logger == nil {
		target.Logger = slog.Default().With("object", deploy.RefOf(target.Resource))
	}
	var patches []*patch
	for _, name := range slices.Sorted(maps.Keys(found)) {
		e, _, err := found.get(name)
		if err != nil {
			return nil, fmt.Errorf("annotation %s: %w", c.key(), err)
		}
		p, err := c.patchOf(ctx, target, name, e)
		if err != nil {
			return nil, err
		}
		if p != nil {
			patches = append(patches, p)
		}
	}
	slices.SortFunc(patches, func(a, b *patch) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), a.since.Compare(b.since), cmp.Compare(a.name, b.name))
	})
	out := make([]patching.Patch, len(patches))
	for i, p := range patches {
		out[i] = p
	}
	return out, nil
}

// patchOf reads the patch of one entry, nil if it must not be applied.
func (c *Controller) patchOf(ctx context.Context, target patching.Target, name string, e entry) (*patch, error) {
	log := target.Logger.With("patch", name)
	kind, err := e.kind()
	if err != nil {
		return nil, fmt.Errorf("annotation %s: entry %s: %w", c.key(), name, err)
	}
	if !c.reads(kind.GroupKind()) {
		log.Warn("temporary patch ignored: the operator doesn't read patches of this kind", "kind", kind.String())
		return nil, nil
	}
	ref := deploy.Ref{Kind: kind, Namespace: target.Resource.GetNamespace(), Name: name}
	obj, err := c.find(ctx, target, ref)
	switch {
	case failure.Is[*deploy.KindUnknownError](err):
		log.Warn("temporary patch ignored: its kind isn't served", "kind", kind.String())
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("patch %s: %w", name, err)
	case obj == nil:
		log.Warn("temporary patch ignored: it is gone")
		if !target.DryRun {
			c.board.forget(types.UID(e.UID))
			c.prune(ctx, target, name, e)
		}
		return nil, nil
	}
	decoded, content, err := decode(obj)
	switch {
	case err != nil:
		log.Warn("temporary patch ignored", "error", err)
	case obj.GetDeletionTimestamp() != nil, expired(decoded, c.options.now()):
		// Its entry is about to be removed.
	case !names(decoded.Spec, target.Resource):
		log.Warn("temporary patch ignored: it names another target", "target", decoded.Spec.Kind+" "+decoded.Spec.Name)
	default:
		since, ok := e.time()
		if !ok {
			since = obj.GetCreationTimestamp().Time
		}
		return &patch{
			TemporaryPatchSpec: decoded.Spec, bodies: content, controller: c, target: target, name: name, since: since,
			run: c.boardOf(target).begin(decoded, content),
		}, nil
	}
	return nil, nil
}

// names reports whether a patch is for resource, in whatever version of its kind.
func names(spec TemporaryPatchSpec, resource *unstructured.Unstructured) bool {
	version, err := schema.ParseGroupVersion(spec.APIVersion)
	kind := resource.GroupVersionKind()
	return err == nil && version.Group == kind.Group && spec.Kind == kind.Kind && spec.Name == resource.GetName()
}

// reads reports whether entries may name patches of a kind. Without this check, anybody who may annotate the target
// could patch it by an object of any kind, or make it wait for a kind that the operator may not read.
func (c *Controller) reads(kind schema.GroupKind) bool {
	return kind == c.options.kind.GroupKind() || slices.Contains(c.options.also, kind)
}

// boardOf returns the board for the results of target. The results of a dry run are dropped.
func (c *Controller) boardOf(target patching.Target) *board {
	if target.DryRun {
		return &board{}
	}
	return &c.board
}

// find reads a patch. If the View doesn't have the patch, find reads it from the cluster: rendering without a patch
// that isn't in the View yet would undo it. In a dry run find reads only the View, since a dry run undoes nothing, and
// its cluster may be a different one.
func (c *Controller) find(ctx context.Context, target patching.Target, ref deploy.Ref) (*unstructured.Unstructured, error) {
	obj, err := target.View.Get(ctx, ref)
	if obj != nil || err != nil || target.DryRun {
		return obj, err
	}
	return c.manager.Port().Get(ctx, ref)
}

// prune removes the entry of a deleted patch from the target, unless the entry belongs to a new patch by now. If the
// write fails, the entry is ignored, and the next reconcile tries again.
func (c *Controller) prune(ctx context.Context, target patching.Target, name string, gone entry) {
	_, err := c.edit(ctx, target.Resource, func(found entries) (bool, error) {
		if e, exists, err := found.get(name); !exists || err != nil || e != gone {
			return false, nil //nolint:nilerr // an invalid entry isn't ours to remove
		}
		delete(found, name)
		return true, nil
	})
	if err != nil {
		target.Logger.Warn("the entry of a deleted temporary patch can't be removed", "patch", name, "error", err)
	}
}

// patch is one patch for one reconcile of its target.
type patch struct {
	TemporaryPatchSpec
	bodies     bodies
	controller *Controller
	target     patching.Target
	name       string
	since      time.Time
	run        *run
}

// Name implements patching.Patch.
func (p *patch) Name() string { return p.name }

// Apply implements patching.Patch. It returns an error only for an object that matches.
func (p *patch) Apply(ctx context.Context, component, object string, content map[string]any) (map[string]any, bool, error) {
	contents, at := p.bodies.find(component, object)
	if len(contents) == 0 {
		p.run.note(component, object, nil, nil)
		return content, false, nil
	}
	patched, err := p.applied(ctx, contents, content)
	p.run.note(component, object, at, err)
	if err != nil {
		return nil, true, err
	}
	return patched, true, nil
}

func (p *patch) applied(ctx context.Context, contents []any, object map[string]any) (map[string]any, error) {
	kind, err := p.patchType()
	if err != nil {
		return nil, err
	}
	var known smp.Schema
	if kind == smp.StrategicMerge {
		apiVersion, _ := object["apiVersion"].(string)
		name, _ := object["kind"].(string)
		if known, err = p.controller.schemas.of(ctx, p.target, schema.FromAPIVersionAndKind(apiVersion, name), p.controller.options.now); err != nil {
			return nil, err
		}
	}
	for _, content := range contents {
		if object, err = (smp.Patch{Type: kind, Body: content}).Apply(object, known, p.controller.options.merge...); err != nil {
			return nil, err
		}
	}
	return object, nil
}

func (p *patch) patchType() (smp.Type, error) {
	switch p.PatchType {
	case Strategic, StrategicMerge:
		return smp.StrategicMerge, nil
	case JSON, JSON6902:
		return smp.JSON6902, nil
	}
	return "", fmt.Errorf("spec.patchType: unknown type %q: choose %s or %s", p.PatchType, Strategic, JSON)
}
