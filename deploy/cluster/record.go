package cluster

import (
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// record is an object of which only the metadata is held, in a fraction of the memory that maps take: a pattern that all
// objects of a template have in common, and the texts that only this one has.
type record struct {
	pattern *packedMap
	// texts are those for the holes of the pattern, one after the other, each behind its length.
	texts string
	// recent is the object as it was put in or shown last, for a while.
	recent atomic.Pointer[unstructured.Unstructured]
}

// newRecord returns the record of an object.
func (c *common) newRecord(obj *unstructured.Unstructured) *record {
	metadata, _ := obj.Object["metadata"].(map[string]any)
	pattern, texts := c.pack(metadata)
	r := &record{pattern: pattern, texts: texts}
	if len(obj.Object) == 3 { // apiVersion, kind, metadata
		c.recent.keep(r, obj)
	}
	return r
}

// metadata is what was packed.
func (r *record) metadata() map[string]any {
	u := unpacking{texts: r.texts}
	return u.fields(r.pattern)
}

// show returns the object, which has nothing but metadata. It is safe for concurrent use.
func (c *common) show(r *record, kind schema.GroupVersionKind) *unstructured.Unstructured {
	if obj := r.recent.Load(); obj != nil {
		return obj
	}
	version, name := kind.ToAPIVersionAndKind()
	obj := &unstructured.Unstructured{Object: map[string]any{"apiVersion": version, "kind": name, "metadata": r.metadata()}}
	c.recent.keep(r, obj)
	return obj
}

// recentRecords are those whose objects are at hand: who is told of an object looks at it again soon.
type recentRecords struct {
	mu   sync.Mutex
	ring [recentPlaces]*record
	next int
}

// recentPlaces is enough for what is in work at a time.
const recentPlaces = 1 << 6

// keep has obj at hand in the place of the one that has been for longest.
func (h *recentRecords) keep(r *record, obj *unstructured.Unstructured) {
	r.recent.Store(obj)
	h.mu.Lock()
	defer h.mu.Unlock()
	if oldest := h.ring[h.next]; oldest != nil && oldest != r {
		oldest.recent.Store(nil)
	}
	h.ring[h.next] = r
	h.next = (h.next + 1) % recentPlaces
}
