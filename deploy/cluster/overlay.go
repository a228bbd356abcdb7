package cluster

import (
	"log/slog"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// overlayLifetime bounds how long an own write is believed without having been seen: a
// restored etcd may go back in versions.
const overlayLifetime = 60 * time.Second

// overlay holds our own latest writes until the informers show them or something newer. It
// keeps also the deletions that informers showed while a write was under way: the answer to
// that write may come after the object is gone already.
type overlay struct {
	logger *slog.Logger
	now    func() time.Time

	mu      sync.Mutex
	entries map[deploy.Ref]overlayEntry
	writing map[deploy.Ref]*inFlight
}

// overlayEntry is one write; a nil object is a tombstone.
type overlayEntry struct {
	uid     types.UID
	version string
	object  *unstructured.Unstructured
	written time.Time
}

type inFlight struct {
	count   int
	deleted map[types.UID]bool
}

func newOverlay(logger *slog.Logger) *overlay {
	return &overlay{
		logger: logger, now: time.Now,
		entries: map[deploy.Ref]overlayEntry{}, writing: map[deploy.Ref]*inFlight{},
	}
}

// begin is called before a write is sent; the returned function when its answer is known
// and has been recorded.
func (o *overlay) begin(ref deploy.Ref) (end func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	flight, ok := o.writing[ref]
	if !ok {
		flight = &inFlight{deleted: map[types.UID]bool{}}
		o.writing[ref] = flight
	}
	flight.count++
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		if flight.count--; flight.count == 0 {
			delete(o.writing, ref)
		}
	}
}

// wrote records the answer to a write.
func (o *overlay) wrote(ref deploy.Ref, obj *unstructured.Unstructured) {
	if removed(obj) {
		o.deleted(ref, obj.GetUID())
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if flight := o.writing[ref]; flight != nil && flight.deleted[obj.GetUID()] {
		return
	}
	if previous, ok := o.entries[ref]; ok && !previous.replacedBy(obj) {
		return
	}
	o.entries[ref] = overlayEntry{uid: obj.GetUID(), version: obj.GetResourceVersion(), object: obj, written: o.now()}
}

// deleted records that the object with uid is gone.
func (o *overlay) deleted(ref deploy.Ref, uid types.UID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if flight := o.writing[ref]; flight != nil && flight.deleted[uid] {
		delete(o.entries, ref)
		return
	}
	o.entries[ref] = overlayEntry{uid: uid, written: o.now()}
}

// observe ends the entries that an event of an informer makes obsolete.
func (o *overlay) observe(kind schema.GroupVersionKind, event deploy.Event) {
	ref := deploy.Ref{Kind: kind, Namespace: event.New.GetNamespace(), Name: event.New.GetName()}
	o.mu.Lock()
	defer o.mu.Unlock()
	if flight := o.writing[ref]; flight != nil && event.Type == deploy.Deleted {
		flight.deleted[event.New.GetUID()] = true
	}
	entry, ok := o.entries[ref]
	if !ok {
		return
	}
	if event.Type == deploy.Deleted {
		if entry.uid == event.New.GetUID() {
			delete(o.entries, ref)
		}
		return
	}
	if entry.endedBy(event.New) {
		delete(o.entries, ref)
	}
}

// source says where the answer to a read comes from.
type source int

const (
	fromWatch source = iota
	fromWrite
	// fromNeither: an own write wasn't seen in time, so that neither it nor the watch is to be believed.
	fromNeither
)

// get answers for ref from the overlay or from what cached returns. The cache is read under
// the lock: an entry that ends between two looks can't leave a read with neither.
func (o *overlay) get(ref deploy.Ref, cached func(deploy.Ref) *unstructured.Unstructured) (*unstructured.Unstructured, source) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.resolve(ref, cached(ref))
}

// list overlays what cached returns, the objects of a kind, with its entries. As in get the
// cache is read under the lock.
func (o *overlay) list(kind schema.GroupVersionKind, namespace string, cached func() []*unstructured.Unstructured) []*unstructured.Unstructured {
	o.mu.Lock()
	defer o.mu.Unlock()
	pending := map[deploy.Ref]bool{}
	for ref := range o.entries {
		if ref.Kind == kind && (namespace == "" || ref.Namespace == namespace) {
			pending[ref] = true
		}
	}
	var objects []*unstructured.Unstructured
	for _, obj := range cached() {
		ref := deploy.Ref{Kind: kind, Namespace: obj.GetNamespace(), Name: obj.GetName()}
		delete(pending, ref)
		if current, _ := o.resolve(ref, obj); current != nil {
			objects = append(objects, current)
		}
	}
	for ref := range pending {
		if current, _ := o.resolve(ref, nil); current != nil {
			objects = append(objects, current)
		}
	}
	return objects
}

func (o *overlay) resolve(ref deploy.Ref, cached *unstructured.Unstructured) (*unstructured.Unstructured, source) {
	entry, ok := o.entries[ref]
	if !ok {
		return cached, fromWatch
	}
	if entry.endedBy(cached) {
		delete(o.entries, ref)
		return cached, fromWatch
	}
	if o.now().Sub(entry.written) <= overlayLifetime {
		return entry.object, fromWrite
	}
	delete(o.entries, ref)
	if entry.object == nil && cached == nil {
		return nil, fromWatch
	}
	o.logger.Warn("own write was not seen in time, reading it", "object", ref.String(), "version", entry.version)
	return cached, fromNeither
}

// endedBy tells whether obj, as an informer shows it, is the entry's write or something
// newer. Versions of one kind are comparable, whichever object they belong to.
func (e overlayEntry) endedBy(obj *unstructured.Unstructured) bool {
	if obj == nil {
		return false
	}
	if e.object == nil {
		return obj.GetUID() != e.uid
	}
	return !newer(e.version, obj.GetResourceVersion())
}

// replacedBy tells whether obj, the answer to another own write, came after the entry: answers
// may overtake each other.
func (e overlayEntry) replacedBy(obj *unstructured.Unstructured) bool {
	if e.object == nil {
		return obj.GetUID() != e.uid
	}
	return newer(obj.GetResourceVersion(), e.version)
}

// newer tells whether a is a later version than b. What can't be compared counts as newer,
// so that an own write isn't hidden.
func newer(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err != nil || order > 0
}

// removed tells whether the write that answered obj has ended its existence: it was being
// deleted and nothing holds it any more.
func removed(obj *unstructured.Unstructured) bool {
	if obj.GetDeletionTimestamp() == nil || len(obj.GetFinalizers()) > 0 {
		return false
	}
	grace := obj.GetDeletionGracePeriodSeconds()
	return grace == nil || *grace == 0
}
