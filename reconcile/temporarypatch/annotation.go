package temporarypatch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
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

// entries is the annotation. The entries are raw, so that an invalid entry stays as it is when another entry changes.
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

// get reads the entry of one patch. found is false if the patch has no entry; an error means that the entry is invalid.
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

// time returns the time at which the patch was first recorded; ok is false if the entry has no valid time.
func (e entry) time() (at time.Time, ok bool) {
	for _, layout := range []string{time.RFC3339Nano, zoneless} {
		if at, err := time.Parse(layout, e.Timestamp); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

func timestamp(now time.Time) string { return now.UTC().Format(time.RFC3339Nano) }

// key returns the key of the annotation on targets.
func (c *Controller) key() string { return c.manager.KeyDomain() + "/temporary-patches" }

// edit calls change with the entries of a target, and writes the entries if change returns true. If the target changed
// meanwhile, edit calls change again. exists is false when the target is gone.
func (c *Controller) edit(ctx context.Context, target *unstructured.Unstructured, change func(entries) (changed bool, err error)) (exists bool, err error) {
	result, err := c.manager.Change(ctx, deploy.RefOf(target), func(current *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		found, err := parseEntries(current, c.key())
		if err != nil {
			return nil, request.Configuration("%w", err)
		}
		if changed, err := change(found); err != nil || !changed {
			return nil, err
		}
		text, err := json.Marshal(found)
		if err != nil {
			return nil, fmt.Errorf("annotation %s: %w", c.key(), err)
		}
		next := current.DeepCopy()
		next.SetAnnotations(labels.Merge(current.GetAnnotations(), labels.Set{c.key(): string(text)}))
		return next, nil
	})
	return result.Action != deploy.Skipped, err
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
