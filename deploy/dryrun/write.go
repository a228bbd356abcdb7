package dryrun

import (
	"errors"
	"maps"
	"math"
	"reflect"
	"unicode/utf8"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// create completes and stores the new object next. The caller must not use next afterwards. Like a server, create
// validates next before it checks whether the object exists. The lock is held.
func (c *Cluster) create(d *declaration, ref deploy.Ref, next *unstructured.Unstructured, w asking) (*unstructured.Unstructured, error) {
	if next.GetUID() != "" || next.GetResourceVersion() != "" {
		return nil, &deploy.StaleError{Ref: ref, Err: errGone}
	}
	if err := c.placed(ref); err != nil {
		return nil, err
	}
	if d.status {
		delete(next.Object, "status")
	}
	metadata := metadataOf(next)
	for _, field := range []string{"deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"} {
		delete(metadata, field)
	}
	metadata["uid"] = string(c.storage.nextUID())
	metadata["creationTimestamp"] = c.timestamp()
	delete(metadata, "generation")
	if d.generation {
		metadata["generation"] = int64(1)
	}
	if ref.Kind.GroupKind() == namespaceKind {
		completeNamespace(next)
	}
	tidy(metadata)
	c.stampManagers(nil, next)
	if err := c.admit(ref, nil, next, ""); err != nil {
		return nil, err
	}
	next, err := c.mutated(w, d, ref, nil, next)
	if err == nil {
		err = c.validate(d, ref, next, nil)
	}
	if err == nil {
		err = c.approved(w, d, ref, nil, next)
	}
	switch {
	case err != nil:
		return nil, err
	case c.storage.get(addressOf(ref)) != nil:
		return nil, &deploy.AlreadyExistsError{Ref: ref, Err: errors.New("it exists in memory")}
	case w.call.DryRun:
		return next, nil
	}
	metadataOf(next)["uid"] = string(c.storage.nextUID()) // others may have been created while webhooks were asked
	if next, err = c.toStore(d, next); err != nil {
		return nil, err
	}
	c.storage.claimUID(next.GetUID())
	c.see(d)
	c.store(addressOf(ref), nil, next)
	c.aftermath(addressOf(ref), next)
	return next, nil
}

// update stores next in place of live, and returns the stored object. It stores only the fields that a write of the
// subresource may change. A write that changes nothing returns live. The lock is held.
func (c *Cluster) update(d *declaration, ref deploy.Ref, live, next *unstructured.Unstructured, w asking) (*unstructured.Unstructured, error) {
	subresource, dryRun := w.call.Subresource, w.call.DryRun
	if version := next.GetResourceVersion(); version != "" && version != live.GetResourceVersion() {
		return nil, &deploy.StaleError{Ref: ref, Err: errors.New("resourceVersion " + version + " doesn't match the latest, " + live.GetResourceVersion())}
	}
	if uid := next.GetUID(); uid != "" && uid != live.GetUID() {
		return nil, &deploy.StaleError{Ref: ref, Err: errors.New("uid " + string(uid) + " doesn't match the object's, " + string(live.GetUID()))}
	}
	next, err := c.checked(d, ref, live, next, w)
	if err != nil {
		return nil, err
	}
	if !dryRun {
		c.see(d)
	}
	if same(live, inVersion(next, live.GroupVersionKind().GroupVersion())) {
		return live, nil
	}
	if dryRun {
		return next, nil
	}
	at := addressOf(ref)
	if live.GetDeletionTimestamp() != nil && len(next.GetFinalizers()) == 0 && c.empty(at) {
		next.SetResourceVersion(c.remove(at).GetResourceVersion())
		return next, nil
	}
	c.store(at, live, next)
	if subresource == "" {
		c.aftermath(at, next)
	}
	return next, nil
}

// checked returns next as it is stored in place of live, after admission and validation.
func (c *Cluster) checked(d *declaration, ref deploy.Ref, live, next *unstructured.Unstructured, w asking) (*unstructured.Unstructured, error) {
	before, subresource := live, w.call.Subresource
	var err error
	if d.conversion != nil {
		if before, err = shared(live, d); err != nil {
			return nil, err
		}
	}
	next = prepare(d, before, next, subresource)
	c.stampManagers(before, next)
	if err := c.admit(ref, before, next, subresource); err != nil {
		return nil, err
	}
	if next, err = c.mutated(w, d, ref, before, next); err != nil {
		return nil, err
	}
	if err := c.validate(d, ref, next, before); err != nil {
		return nil, err
	}
	if err := c.approved(w, d, ref, before, next); err != nil {
		return nil, err
	}
	return c.toStore(d, next)
}

// aftermath serves the kinds of a CustomResourceDefinition after it was written. The lock is held.
func (c *Cluster) aftermath(at address, stored *unstructured.Unstructured) {
	if at.kind == definitionKind && !c.kinds.schemaless && c.storage.get(at) == stored {
		c.establish(at, stored)
	}
}

// prepare resets the fields of next that the write can't change. In a write of the status, these are all fields except
// the status. In any other write, they are the status, if it is a subresource, and the metadata that the server sets.
func prepare(d *declaration, live, next *unstructured.Unstructured, subresource string) *unstructured.Unstructured {
	if subresource == statusSubresource {
		kept := live.DeepCopy()
		copyField(kept.Object, next.Object, "status")
		copyField(metadataOf(kept), metadataOf(next), "managedFields")
		kept.SetAPIVersion(next.GetAPIVersion())
		return kept
	}
	if d.status {
		copyField(next.Object, live.Object, "status")
	}
	metadata, before := metadataOf(next), metadataOf(live)
	for _, field := range []string{"uid", "creationTimestamp", "generation", "resourceVersion", "selfLink"} {
		copyField(metadata, before, field)
	}
	if live.GetDeletionTimestamp() != nil {
		copyField(metadata, before, "deletionTimestamp")
		copyField(metadata, before, "deletionGracePeriodSeconds")
	}
	tidy(metadata)
	if d.generation && !equality.Semantic.DeepEqual(specOf(d, live), specOf(d, next)) {
		metadata["generation"] = live.GetGeneration() + 1
	}
	return next
}

// store stores next, publishes the event, and deletes the object if its owners are gone.
func (c *Cluster) store(at address, live, next *unstructured.Unstructured) {
	c.storage.put(at, next)
	if live == nil {
		c.publish(at, deploy.Event{Type: deploy.Added, New: next})
	} else {
		c.publish(at, deploy.Event{Type: deploy.Modified, Old: live, New: next})
		c.unblockOwners(live)
	}
	c.collect(at)
}

// specOf returns the content whose changes raise the generation: everything except metadata and a status that is a
// subresource.
func specOf(d *declaration, obj *unstructured.Unstructured) map[string]any {
	spec := maps.Clone(obj.Object)
	maps.DeleteFunc(spec, func(key string, _ any) bool {
		return key == "metadata" || key == "apiVersion" || key == "status" && d.status
	})
	return spec
}

// same reports whether next equals live, except for times in managedFields.
func same(live, next *unstructured.Unstructured) bool {
	return reflect.DeepEqual(withoutTimes(live), withoutTimes(next))
}

func metadataOf(obj *unstructured.Unstructured) map[string]any {
	metadata, ok := obj.Object["metadata"].(map[string]any)
	if !ok {
		metadata = map[string]any{}
		obj.Object["metadata"] = metadata
	}
	return metadata
}

func copyField(to, from map[string]any, field string) {
	if value, ok := from[field]; ok {
		to[field] = value
	} else {
		delete(to, field)
	}
}

// tidy removes empty metadata that a server doesn't store.
func tidy(metadata map[string]any) {
	for _, field := range []string{"labels", "annotations", "finalizers", "ownerReferences", "managedFields"} {
		switch value := metadata[field].(type) {
		case nil:
			delete(metadata, field)
		case map[string]any:
			if len(value) == 0 {
				delete(metadata, field)
			}
		case []any:
			if len(value) == 0 {
				delete(metadata, field)
			}
		}
	}
}

// asSent returns a copy of obj in the form in which a server receives it.
func asSent(obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if text(obj.Object["kind"]) != "" && obj.Object["items"] == nil {
		if content, ok := sent(obj.Object); ok {
			return &unstructured.Unstructured{Object: content.(map[string]any)}, nil
		}
	}
	body, err := obj.MarshalJSON()
	if err != nil {
		return nil, err
	}
	out := &unstructured.Unstructured{}
	return out, out.UnmarshalJSON(body)
}

// exactInteger is the limit below which sent converts floats with integral values to integers. It leaves larger floats
// to the encoder.
const exactInteger = 1 << 53

// sent returns the value that results from encoding value to JSON and decoding it. ok is false if sent can't compute
// this, so that the encoder has to be used.
func sent(value any) (_ any, ok bool) {
	switch v := value.(type) {
	case nil, bool, int64:
		return v, true
	case string:
		return v, utf8.ValidString(v)
	case int:
		return int64(v), true
	case int32:
		return int64(v), true
	case float64:
		if whole := math.Trunc(v); whole == v {
			return int64(whole), math.Abs(v) < exactInteger
		}
		return v, !math.IsNaN(v)
	case map[string]any:
		if v == nil {
			return nil, true
		}
		out := make(map[string]any, len(v))
		for key, item := range v {
			copied, ok := sent(item)
			if !ok || !utf8.ValidString(key) {
				return nil, false
			}
			out[key] = copied
		}
		return out, true
	case []any:
		if v == nil {
			return nil, true
		}
		out := make([]any, len(v))
		for i, item := range v {
			copied, ok := sent(item)
			if !ok {
				return nil, false
			}
			out[i] = copied
		}
		return out, true
	}
	return nil, false
}
