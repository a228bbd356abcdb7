package trigger

import (
	"slices"
	"strings"
	"sync"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Owners holds the controlled objects by uid, so that a child finds its owner whatever the version of its reference and
// the namespace of the owner. It is safe for concurrent use.
type Owners struct {
	mu   sync.RWMutex
	keys map[types.UID]deploy.Ref
	uids map[deploy.Ref]types.UID
}

// NewOwners returns empty Owners.
func NewOwners() *Owners {
	return &Owners{keys: map[types.UID]deploy.Ref{}, uids: map[deploy.Ref]types.UID{}}
}

func (o *Owners) add(key deploy.Ref, uid types.UID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if previous, ok := o.uids[key]; ok && previous != uid {
		delete(o.keys, previous)
	}
	o.keys[uid], o.uids[key] = key, uid
}

func (o *Owners) remove(key deploy.Ref, uid types.UID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.keys, uid)
	if o.uids[key] == uid {
		delete(o.uids, key)
	}
}

// Observe records an event of a controlled object of kind. anew: the failures of the object before the event no longer
// count.
func (o *Owners) Observe(kind schema.GroupVersionKind, event deploy.Event) (key deploy.Ref, anew bool) {
	now := metadataOf(event.New)
	uid := types.UID(text(now, "uid"))
	key = deploy.Ref{Kind: kind, Namespace: text(now, "namespace"), Name: text(now, "name")}
	switch event.Type {
	case deploy.Deleted, deploy.Left:
		o.remove(key, uid)
	case deploy.Modified:
		before := metadataOf(event.Old)
		if text(before, "uid") == string(uid) && uid != "" {
			return key, before["generation"] != now["generation"]
		}
		o.add(key, uid)
	default:
		o.add(key, uid)
	}
	return key, true
}

// Keys returns the objects of kind that are known, in no order.
func (o *Owners) Keys(kind schema.GroupVersionKind) (keys []deploy.Ref) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	for key := range o.uids {
		if key.Kind == kind {
			keys = append(keys, key)
		}
	}
	return keys
}

// DropKind forgets the objects of kind.
func (o *Owners) DropKind(kind schema.GroupVersionKind) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for key, uid := range o.uids {
		if key.Kind == kind {
			delete(o.uids, key)
			delete(o.keys, uid)
		}
	}
}

// Known reports whether an object of this key exists, according to the events so far.
func (o *Owners) Known(key deploy.Ref) bool {
	o.mu.RLock()
	defer o.mu.RUnlock()
	_, known := o.uids[key]
	return known
}

// Len returns how many objects are known.
func (o *Owners) Len() int {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return len(o.keys)
}

// Of returns the keys of the owners of kind that an event concerns, each once: the owners in the references and labels
// of the object, before and after the event. The deletion of a child of an earlier owner also concerns the present
// owner of that name, which may need the name of the child. An update without a change and a child that left the view
// concern no owner.
func (o *Owners) Of(kind schema.GroupVersionKind, event deploy.Event) []deploy.Ref {
	if !concernsOthers(event) {
		return nil
	}
	var found []deploy.Ref
	o.mu.RLock()
	defer o.mu.RUnlock()
	for _, obj := range []*unstructured.Unstructured{event.Old, event.New} {
		if obj == nil {
			continue
		}
		for _, reference := range obj.GetOwnerReferences() {
			version, err := schema.ParseGroupVersion(reference.APIVersion)
			if err != nil || reference.Kind != kind.Kind || version.Group != kind.Group {
				continue
			}
			if key, known := o.keys[reference.UID]; known {
				found = append(found, key)
			} else if event.Type == deploy.Deleted {
				found = append(found, o.named(kind, obj.GetNamespace(), reference.Name)...)
			}
		}
		if key, ok := o.labelled(kind, obj); ok {
			found = append(found, key)
		}
	}
	return unique(found)
}

// unique drops repeated keys; there are few.
func unique(keys []deploy.Ref) []deploy.Ref {
	once := keys[:0]
	for _, key := range keys {
		if !slices.Contains(once, key) {
			once = append(once, key)
		}
	}
	return once
}

// ownerLabel is the key, after its domain, of the label by which an object names an owner that it can't refer to, see
// deploy.OwnedByLabel. Any domain is accepted: the uid alone is unique.
const ownerLabel = "/owner-uid"

// labelled returns the key of the owner of kind in the label of an object.
func (o *Owners) labelled(kind schema.GroupVersionKind, obj *unstructured.Unstructured) (deploy.Ref, bool) {
	labels, _ := metadataOf(obj)["labels"].(map[string]any)
	for name, value := range labels {
		uid, isText := value.(string)
		if !isText || !strings.HasSuffix(name, ownerLabel) {
			continue
		}
		if key, ok := o.keys[types.UID(uid)]; ok && key.Kind.GroupKind() == kind.GroupKind() {
			return key, true
		}
	}
	return deploy.Ref{}, false
}

// named returns the keys of the present owners with this name that an object in namespace may refer to.
func (o *Owners) named(kind schema.GroupVersionKind, namespace, name string) (keys []deploy.Ref) {
	for _, key := range []deploy.Ref{{Kind: kind, Namespace: namespace, Name: name}, {Kind: kind, Name: name}} {
		if _, ok := o.uids[key]; ok {
			keys = append(keys, key)
		}
	}
	return keys
}
