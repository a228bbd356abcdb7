package dryrun

import (
	"errors"
	"math"
	"reflect"
	"unicode/utf8"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// create stores a new object, as the server completes it. next becomes the storage's. That there is one already is
// found last, as by a server: what is refused for another reason is refused for that. The lock is held.
func (c *Cluster) create(d *declaration, ref deploy.Ref, next *unstructured.Unstructured, dryRun bool) (*unstructured.Unstructured, error) {
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
	if err := c.validate(d, ref, next, nil); err != nil {
		return nil, err
	}
	if c.storage.get(addressOf(ref)) != nil {
		return nil, &deploy.AlreadyExistsError{Ref: ref, Err: errors.New("there is one in memory")}
	}
	if dryRun {
		return next, nil
	}
	c.storage.claimUID(next.GetUID())
	c.see(d)
	c.store(addressOf(ref), nil, next)
	c.aftermath(addressOf(ref), next)
	return next, nil
}

// update stores next in the place of live, as far as a write of the subresource may change
// it, and returns what is stored then. A write that changes nothing returns live. The lock is held.
func (c *Cluster) update(d *declaration, ref deploy.Ref, live, next *unstructured.Unstructured, subresource string, dryRun bool) (*unstructured.Unstructured, error) {
	if version := next.GetResourceVersion(); version != "" && version != live.GetResourceVersion() {
		return nil, &deploy.StaleError{Ref: ref, Err: errors.New("resourceVersion " + version + " isn't the latest, " + live.GetResourceVersion())}
	}
	if uid := next.GetUID(); uid != "" && uid != live.GetUID() {
		return nil, &deploy.StaleError{Ref: ref, Err: errors.New("uid " + string(uid) + " isn't the object's, " + string(live.GetUID()))}
	}
	next = prepare(d, live, next, subresource)
	c.stampManagers(live, next)
	if err := c.admit(ref, live, next, subresource); err != nil {
		return nil, err
	}
	if err := c.validate(d, ref, next, live); err != nil {
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

// aftermath is what the cluster does by itself once an object is written. The lock is held.
func (c *Cluster) aftermath(at address, stored *unstructured.Unstructured) {
	if at.kind == definitionKind && !c.kinds.schemaless && c.storage.get(at) == stored {
		c.establish(at, stored)
	}
}

// prepare gives next what a write can't change: of the status subresource all but the
// status, of the object the status and the server's own part of metadata.
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

// store puts next in, tells the subscribers, and collects the object if its owners are gone.
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

// specOf is all that raises the generation when it changes: everything but metadata and a
// status that is kept apart.
func specOf(d *declaration, obj *unstructured.Unstructured) map[string]any {
	spec := make(map[string]any, len(obj.Object))
	for key, value := range obj.Object {
		if key != "metadata" && key != "apiVersion" && (key != "status" || !d.status) {
			spec[key] = value
		}
	}
	return spec
}

// same reports whether next is live but for the times of its field managers.
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

// tidy leaves out what a server doesn't store when it is empty.
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

// asSent copies obj by the way it would take to a server.
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

// exactInteger ends the range of floats that JSON writes as the integers that they are.
const exactInteger = 1 << 53

// sent is a value as it is after its way as JSON; ok is false where only JSON itself can tell.
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
