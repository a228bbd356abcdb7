package cluster

import (
	"slices"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// objects are those that one informer shows. It isn't safe for concurrent use, but for reads.
type objects struct {
	holder holder
	// names are by namespace and name, owners by the uid of each owner.
	names  map[string]map[string]held
	owners map[string][]held
}

// holder says how objects of a kind are held. bare is the kind of those that are nothing but metadata, empty for whole
// objects; common is where records keep what they have in common.
type holder struct {
	bare   schema.GroupVersionKind
	common *common
}

// held is an object as it is held: itself, or a record of its metadata.
type held struct {
	object *unstructured.Unstructured
	record *record
}

func newObjects(h holder) objects {
	return objects{holder: h, names: map[string]map[string]held{}, owners: map[string][]held{}}
}

// hold returns obj as it is held.
func (h holder) hold(obj *unstructured.Unstructured) held {
	if h.bare.Empty() {
		return held{object: obj}
	}
	return held{record: h.common.newRecord(obj)}
}

// show returns an object that is held, nil for none.
func (h holder) show(one held) *unstructured.Unstructured {
	if one.record == nil {
		return one.object
	}
	return h.common.show(one.record, h.bare)
}

func (o *objects) get(namespace, name string) *unstructured.Unstructured {
	return o.holder.show(o.names[namespace][name])
}

// atHand is get, but nil for what would have to be unpacked for that.
func (o *objects) atHand(namespace, name string) *unstructured.Unstructured {
	one := o.names[namespace][name]
	if one.record != nil {
		return one.record.recent.Load()
	}
	return one.object
}

// put takes obj in and returns the one of that name that was there.
func (o *objects) put(obj *unstructured.Unstructured) (before *unstructured.Unstructured) {
	before = o.remove(obj.GetNamespace(), obj.GetName())
	o.add(o.holder.listed(obj))
	return before
}

// add takes in one whose name isn't taken.
func (o *objects) add(l listed) {
	if o.names[l.namespace] == nil {
		o.names[l.namespace] = map[string]held{}
	}
	o.names[l.namespace][l.name] = l.held
	for _, uid := range l.owners {
		o.owners[uid] = append(o.owners[uid], l.held)
	}
}

// remove returns what it has removed, nil if there was nothing.
func (o *objects) remove(namespace, name string) *unstructured.Unstructured {
	one, ok := o.names[namespace][name]
	if !ok {
		return nil
	}
	if delete(o.names[namespace], name); len(o.names[namespace]) == 0 {
		delete(o.names, namespace)
	}
	obj := o.holder.show(one)
	for _, uid := range ownersOf(obj) {
		owned := o.owners[uid]
		if at := slices.Index(owned, one); at >= 0 {
			owned = slices.Delete(owned, at, at+1)
		}
		if o.owners[uid] = owned; len(owned) == 0 {
			delete(o.owners, uid)
		}
	}
	return obj
}

// in returns the objects of a namespace, or of all ("").
func (o *objects) in(namespace string) []*unstructured.Unstructured {
	var found []*unstructured.Unstructured
	for where, names := range o.names {
		if namespace != "" && namespace != where {
			continue
		}
		for _, one := range names {
			found = append(found, o.holder.show(one))
		}
	}
	return found
}

// owned returns the objects of an owner.
func (o *objects) owned(owner string) []*unstructured.Unstructured {
	var found []*unstructured.Unstructured
	for _, one := range o.owners[owner] {
		found = append(found, o.holder.show(one))
	}
	return found
}

// ownersOf are the uids of an object's owners, each once.
func ownersOf(obj *unstructured.Unstructured) (uids []string) {
	metadata, _ := obj.Object["metadata"].(map[string]any)
	references, _ := metadata["ownerReferences"].([]any)
	for _, item := range references {
		reference, _ := item.(map[string]any)
		if uid, _ := reference["uid"].(string); uid != "" && !slices.Contains(uids, uid) {
			uids = append(uids, uid)
		}
	}
	return uids
}

// change is what the step from one state to another is to whoever is told of it: nothing for the same state, as
// a watch shows that begins again, two events for an object that took the place of another one (spec: deploy W15).
func change(before, after *unstructured.Unstructured) []deploy.Event {
	switch {
	case before == nil && after == nil:
		return nil
	case before == nil:
		return []deploy.Event{{Type: deploy.Added, New: after}}
	case after == nil:
		return []deploy.Event{{Type: deploy.Deleted, Old: before, New: before}}
	case before.GetUID() != after.GetUID():
		return []deploy.Event{{Type: deploy.Deleted, Old: before, New: before}, {Type: deploy.Added, New: after}}
	case before.GetResourceVersion() != after.GetResourceVersion():
		return []deploy.Event{{Type: deploy.Modified, Old: before, New: after}}
	}
	return nil
}
