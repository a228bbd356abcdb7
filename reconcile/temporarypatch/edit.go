package temporarypatch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// editAttempts bounds how often an annotation is computed anew after its object changed meanwhile.
const editAttempts = 5

// key is that of the annotation on targets.
func (c *Controller) key() string { return c.manager.KeyDomain() + "/temporary-patches" }

// edit has change edit the annotation of target, in one write of nothing else, and none when it changes
// nothing (spec: patches 13, mistakes 5 and 6). When the object changed meanwhile it is read anew and change
// asked again. exists is false when the target is gone by now.
func (c *Controller) edit(ctx context.Context, target *unstructured.Unstructured, change func(entries) (changed bool, err error)) (exists bool, err error) {
	ref := deploy.RefOf(target)
	for attempt := 1; ; attempt++ {
		err := c.editOnce(ctx, target, change)
		var absent *deploy.NotFoundError
		var stale *deploy.StaleError
		switch {
		case errors.As(err, &absent):
			return false, nil
		case !errors.As(err, &stale):
			return true, err
		case attempt == editAttempts:
			return true, fmt.Errorf("annotation %s: %w", c.key(), err)
		}
		if target, err = c.manager.Port().Get(ctx, ref); errors.As(err, &absent) {
			return false, nil
		} else if err != nil {
			return true, fmt.Errorf("target %s: %w", ref, err)
		}
	}
}

func (c *Controller) editOnce(ctx context.Context, target *unstructured.Unstructured, change func(entries) (bool, error)) error {
	found, err := parseEntries(target, c.key())
	if err != nil {
		return reconcile.Configuration("%w", err)
	}
	if changed, err := change(found); err != nil || !changed {
		return err
	}
	text, err := found.text()
	if err != nil {
		return fmt.Errorf("annotation %s: %w", c.key(), err)
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"resourceVersion": target.GetResourceVersion(), "annotations": map[string]any{c.key(): text},
	}})
	if err != nil {
		return fmt.Errorf("annotation %s: %w", c.key(), err)
	}
	_, err = c.manager.Port().Patch(ctx, deploy.RefOf(target), deploy.Patch{
		Type: types.MergePatchType, Body: patch, FieldManager: c.manager.FieldManager(),
	})
	return err
}

// recording is the change that has the annotation tell of patch. The time of an entry stays while the patch
// is the same one (spec: patches 11); an entry that can't be read is made anew.
func (c *Controller) recording(patch *TemporaryPatch) func(entries) (bool, error) {
	return func(found entries) (bool, error) {
		version, name := c.options.kind.GroupVersion().String(), c.options.kind.Kind
		next := entry{
			Timestamp: timestamp(c.options.now()), APIVersion: version, Kind: name, Generation: patch.Generation, UID: string(patch.UID),
		}
		current, exists, err := found.get(patch.Name)
		if !exists || err != nil {
			return true, found.set(patch.Name, next)
		}
		kind, err := current.kind()
		if err == nil && kind.GroupKind() != c.options.kind.GroupKind() {
			return false, reconcile.Configuration("annotation %s: a %s of the same name has that entry already: rename one of them", c.key(), kind.GroupKind())
		}
		if _, ok := current.time(); ok && (current.UID == "" || current.UID == next.UID) {
			next.Timestamp = current.Timestamp
		}
		if next == current {
			return false, nil
		}
		return true, found.set(patch.Name, next)
	}
}

// without is the change that has the annotation not tell of a patch of this controller's kind any more
// (spec: patches 12).
func (c *Controller) without(name string) func(entries) (bool, error) {
	return func(found entries) (bool, error) {
		current, exists, err := found.get(name)
		if !exists {
			return false, nil
		}
		if err == nil {
			if kind, err := current.kind(); err == nil && kind.GroupKind() != c.options.kind.GroupKind() {
				return false, nil
			}
		}
		delete(found, name)
		return true, nil
	}
}
