package temporarypatch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// entry is the entry of one patch in the annotation. Edits of the patch change its generation here, which brings the
// target to reconcile.
type entry struct {
	Timestamp  string `json:"timestamp"`
	APIVersion string `json:"api_version"`
	Kind       string `json:"kind,omitempty"`
	Generation int64  `json:"generation,omitempty"`
	UID        string `json:"uid,omitempty"`
}

// entries is the annotation. The entries are raw, so that an invalid one stays as it is when another one changes.
type entries map[string]json.RawMessage

// parseEntries reads the annotation of a resource; without one it returns no entries. An annotation that isn't a JSON
// object is an error.
func parseEntries(resource *unstructured.Unstructured, key string) (entries, error) {
	text := resource.GetAnnotations()[key]
	if text == "" {
		return entries{}, nil
	}
	var found entries
	err := json.Unmarshal([]byte(text), &found)
	if err == nil && found == nil {
		err = errors.New("it is null")
	}
	if err != nil {
		return nil, fmt.Errorf("annotation %s of %s %s: not a JSON object: %w: correct or remove it", key, resource.GetKind(), resource.GetName(), err)
	}
	return found, nil
}

// get reads the entry of one patch. found is false when there is none; an error is about its form.
func (e entries) get(name string) (read entry, found bool, err error) {
	raw, found := e[name]
	if !found {
		return entry{}, false, nil
	}
	var fields struct {
		Timestamp  any    `json:"timestamp"`
		APIVersion string `json:"api_version"`
		Kind       string `json:"kind"`
		Generation any    `json:"generation"`
		UID        any    `json:"uid"`
	}
	if err := json.Unmarshal(raw, &fields); err != nil {
		return entry{}, true, fmt.Errorf("entry %s: %w", name, err)
	}
	if fields.APIVersion == "" {
		return entry{}, true, fmt.Errorf("entry %s: has no api_version", name)
	}
	read = entry{APIVersion: fields.APIVersion, Kind: cmp.Or(fields.Kind, DefaultKind.Kind)}
	read.Timestamp, _ = fields.Timestamp.(string)
	read.UID, _ = fields.UID.(string)
	if generation, isNumber := fields.Generation.(float64); isNumber {
		read.Generation = int64(generation)
	}
	return read, true, nil
}

// kind returns the kind of the patch.
func (e entry) kind() (schema.GroupVersionKind, error) {
	version, err := schema.ParseGroupVersion(e.APIVersion)
	return version.WithKind(e.Kind), err
}

// zoneless is how oper8 writes times, which are read as UTC.
const zoneless = "2006-01-02T15:04:05.999999999"

// time returns when the patch was first recorded; ok is false if the entry has no valid time.
func (e entry) time() (at time.Time, ok bool) {
	for _, layout := range []string{time.RFC3339Nano, zoneless} {
		if at, err := time.Parse(layout, e.Timestamp); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

func timestamp(now time.Time) string { return now.UTC().Format(time.RFC3339Nano) }

// editAttempts bounds the attempts to write an annotation while its object keeps changing.
const editAttempts = 5

// key returns the key of the annotation on targets.
func (c *Controller) key() string { return c.manager.KeyDomain() + "/temporary-patches" }

// edit calls change with the entries of target and writes the result, unless change reports no change. The write
// changes nothing but the annotation. If the object changed meanwhile, it is read again and change is called again.
// exists is false when the target is gone.
func (c *Controller) edit(ctx context.Context, target *unstructured.Unstructured, change func(entries) (changed bool, err error)) (exists bool, err error) {
	ref := deploy.RefOf(target)
	for attempt := 1; ; attempt++ {
		err := c.editOnce(ctx, target, change)
		switch {
		case failure.Is[*deploy.NotFoundError](err):
			return false, nil
		case !failure.Is[*deploy.StaleError](err):
			return true, err
		case attempt == editAttempts:
			return true, fmt.Errorf("annotation %s: %w", c.key(), err)
		}
		if target, err = c.manager.Port().Get(ctx, ref); err != nil {
			return true, fmt.Errorf("target %s: %w", ref, err)
		} else if target == nil {
			return false, nil
		}
	}
}

func (c *Controller) editOnce(ctx context.Context, target *unstructured.Unstructured, change func(entries) (bool, error)) error {
	found, err := parseEntries(target, c.key())
	if err != nil {
		return request.Configuration("%w", err)
	}
	if changed, err := change(found); err != nil || !changed {
		return err
	}
	text, err := json.Marshal(found)
	if err != nil {
		return fmt.Errorf("annotation %s: %w", c.key(), err)
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"resourceVersion": target.GetResourceVersion(), "annotations": map[string]any{c.key(): string(text)},
	}})
	if err != nil {
		return fmt.Errorf("annotation %s: %w", c.key(), err)
	}
	_, err = c.manager.Port().Patch(ctx, deploy.RefOf(target), deploy.PatchRequest{
		Type: types.MergePatchType, Body: patch, FieldManager: c.manager.FieldManager(),
	})
	return err
}

// recording returns the change that adds or updates the entry of patch. The time of an entry stays while the patch is
// the same object; an invalid entry is replaced.
func (c *Controller) recording(patch *TemporaryPatch) func(entries) (bool, error) {
	return func(found entries) (bool, error) {
		version, name := c.options.kind.GroupVersion().String(), c.options.kind.Kind
		next := entry{
			Timestamp: timestamp(c.options.now()), APIVersion: version, Kind: name, Generation: patch.Generation, UID: string(patch.UID),
		}
		current, exists, err := found.get(patch.Name)
		if exists && err == nil {
			kind, err := current.kind()
			if err == nil && kind.GroupKind() != c.options.kind.GroupKind() {
				return false, request.Configuration("annotation %s: a %s of the same name has that entry already: rename one of them", c.key(), kind.GroupKind())
			}
			if _, ok := current.time(); ok && (current.UID == "" || current.UID == next.UID) {
				next.Timestamp = current.Timestamp
			}
			if next == current {
				return false, nil
			}
		}
		found[patch.Name], err = json.Marshal(next)
		return true, err
	}
}

// without returns the change that removes the entry of a patch of this controller's kind.
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
