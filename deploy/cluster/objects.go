package cluster

import (
	"slices"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster/internal/compact"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// objects holds the objects of one informer. Only concurrent reads are safe.
type objects struct {
	// byName has the objects by namespace and name. byOwner has them by the uid of each owner.
	byName  map[string]map[string]*compact.Object
	byOwner map[string][]*compact.Object
}

func newObjects() objects {
	return objects{byName: map[string]map[string]*compact.Object{}, byOwner: map[string][]*compact.Object{}}
}

// get returns an object, or nil.
func (o *objects) get(namespace, name string) *unstructured.Unstructured {
	return o.byName[namespace][name].Decode()
}

// put adds an object and returns the object that it replaces, or nil.
func (o *objects) put(obj *compact.Object) (before *unstructured.Unstructured) {
	metadata := obj.GetObjectMeta()
	namespace, name := metadata.GetNamespace(), metadata.GetName()
	before = o.remove(namespace, name)
	if o.byName[namespace] == nil {
		o.byName[namespace] = map[string]*compact.Object{}
	}
	o.byName[namespace][name] = obj
	for _, uid := range obj.Owners() {
		o.byOwner[uid] = append(o.byOwner[uid], obj)
	}
	return before
}

// remove removes an object and returns it, or nil if there is none.
func (o *objects) remove(namespace, name string) *unstructured.Unstructured {
	one, ok := o.byName[namespace][name]
	if !ok {
		return nil
	}
	if delete(o.byName[namespace], name); len(o.byName[namespace]) == 0 {
		delete(o.byName, namespace)
	}
	for _, uid := range one.Owners() {
		owned := o.byOwner[uid]
		if at := slices.Index(owned, one); at >= 0 {
			owned = slices.Delete(owned, at, at+1)
		}
		if o.byOwner[uid] = owned; len(owned) == 0 {
			delete(o.byOwner, uid)
		}
	}
	return one.Decode()
}

// in returns the objects of a namespace ("": of all namespaces).
func (o *objects) in(namespace string) []*unstructured.Unstructured {
	var found []*unstructured.Unstructured
	for where, names := range o.byName {
		if namespace != "" && namespace != where {
			continue
		}
		for _, one := range names {
			found = append(found, one.Decode())
		}
	}
	return found
}

// owned returns the objects with a reference to an owner.
func (o *objects) owned(owner string) []*unstructured.Unstructured {
	var found []*unstructured.Unstructured
	for _, one := range o.byOwner[owner] {
		found = append(found, one.Decode())
	}
	return found
}

// changes returns the events for a change from before to after, which are objects of the same name. nil means no
// object. changes returns no events if both are the same state, because a restarted watch may repeat a state. It
// returns two events if a new object replaced another one.
func changes(before, after *unstructured.Unstructured) []deploy.Event {
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
