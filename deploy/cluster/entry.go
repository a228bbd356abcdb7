package cluster

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

func (e overlayEntry) tombstone() bool { return e.object == nil && !e.unread }

// endedBy tells whether an informer shows the entry's write or something newer. Versions of
// one kind are comparable, whichever object they belong to. An informer that can't say how
// far it has come (client-go's feature AtomicFIFO is off) is judged by the object alone.
func (e overlayEntry) endedBy(now shown) bool {
	if now.listed.After(e.written) {
		return true
	}
	if now.object == nil {
		return reached(now.version, e.version)
	}
	if e.tombstone() {
		// Another state of the same object is one from before its end, and so is a predecessor.
		return now.object.GetUID() != e.uid && newer(now.object.GetResourceVersion(), e.version)
	}
	return reached(now.version, e.version) || reached(now.object.GetResourceVersion(), e.version)
}

// replacedBy tells whether other, of another own write, came after the entry: answers may
// overtake each other.
func (e overlayEntry) replacedBy(other overlayEntry) bool {
	if e.tombstone() {
		return other.uid != e.uid
	}
	return newer(other.version, e.version)
}

// newer tells whether a is a later version than b. What can't be compared counts as newer,
// so that an own write isn't hidden.
func newer(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err != nil || order > 0
}

// reached tells whether a is b or a later version. What can't be compared hasn't reached
// anything.
func reached(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order >= 0
}

// removed tells whether the write that answered obj has ended its existence: it was being
// deleted and nothing holds it any more. What holds a Namespace is in its spec, of which a write
// may tell nothing: its end is told by the watch alone.
func removed(obj *unstructured.Unstructured) bool {
	if obj.GetDeletionTimestamp() == nil || len(obj.GetFinalizers()) > 0 || obj.GroupVersionKind() == namespaceKind {
		return false
	}
	grace := obj.GetDeletionGracePeriodSeconds()
	return grace == nil || *grace == 0
}
