package cluster

import (
	"log/slog"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// overlayLifetime bounds how long an own write is believed without having been seen: a
// restored etcd may go back in versions.
const overlayLifetime = 60 * time.Second

// overlay holds our own latest writes until the informers show them or something newer. It
// keeps also the deletions that informers showed while a write was under way: the answer to
// that write may come after the object is gone already.
//
// An entry ends when the informer has come to the version of the write, whether it shows
// the object then or not; when it shows an object of another uid; with the object's
// deletion; when it has listed all objects anew since the write; or after overlayLifetime
// with a warning.
type overlay struct {
	logger *slog.Logger
	now    func() time.Time
	// shown returns what an informer shows.
	shown func(deploy.Ref) shown

	mu      sync.Mutex
	entries map[deploy.Ref]overlayEntry
	writing map[writing]*inFlight
	swept   time.Time
}

// shown is what an informer shows of one object.
type shown struct {
	// object is nil if it shows none.
	object *unstructured.Unstructured
	// version is how far it has come; empty if it can't say.
	version string
	// listed is when it began to list the objects that it shows, if that list is as new as its
	// beginning.
	listed time.Time
}

// overlayEntry is one write.
type overlayEntry struct {
	uid types.UID
	// version is that of the write, or for a tombstone the last one known before; empty if
	// that isn't known.
	version string
	// object is nil for a tombstone and for what is unread.
	object *unstructured.Unstructured
	// unread tells that there is an object, of which only uid and version are known.
	unread  bool
	written time.Time
}

// writing names an object for which a write is under way, in whichever version; without a
// name it is one that has none yet.
type writing struct {
	schema.GroupKind
	namespace, name string
}

type inFlight struct {
	count   int
	deleted map[types.UID]bool
}

func newOverlay(logger *slog.Logger, view func(deploy.Ref) shown) *overlay {
	return &overlay{
		logger: logger, now: time.Now, shown: view,
		entries: map[deploy.Ref]overlayEntry{}, writing: map[writing]*inFlight{},
	}
}

func writingOf(ref deploy.Ref) writing {
	return writing{ref.Kind.GroupKind(), ref.Namespace, ref.Name}
}

// begin is called before a write is sent; the returned function when its answer is known
// and has been recorded.
func (o *overlay) begin(ref deploy.Ref) (end func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	key := writingOf(ref)
	flight, ok := o.writing[key]
	if !ok {
		flight = &inFlight{deleted: map[types.UID]bool{}}
		o.writing[key] = flight
	}
	flight.count++
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		if flight.count--; flight.count == 0 {
			delete(o.writing, key)
		}
	}
}

// flights returns the writes under way that may be of ref.
func (o *overlay) flights(ref deploy.Ref) []*inFlight {
	key := writingOf(ref)
	var found []*inFlight
	if flight, ok := o.writing[key]; ok {
		found = append(found, flight)
	}
	key.name = ""
	if flight, ok := o.writing[key]; ok {
		found = append(found, flight)
	}
	return found
}

func (o *overlay) deletedMeanwhile(ref deploy.Ref, uid types.UID) bool {
	for _, flight := range o.flights(ref) {
		if flight.deleted[uid] {
			return true
		}
	}
	return false
}

// wrote records the answer to a write.
func (o *overlay) wrote(ref deploy.Ref, obj *unstructured.Unstructured) {
	if removed(obj) {
		o.deleted(ref, obj.GetUID())
		return
	}
	o.keep(ref, overlayEntry{uid: obj.GetUID(), version: obj.GetResourceVersion(), object: obj})
}

// wroteUnread records a write whose answer, obj, doesn't show the object as ref's kind.
func (o *overlay) wroteUnread(ref deploy.Ref, obj *unstructured.Unstructured) {
	o.keep(ref, overlayEntry{uid: obj.GetUID(), version: obj.GetResourceVersion(), unread: true})
}

func (o *overlay) keep(ref deploy.Ref, entry overlayEntry) {
	o.mu.Lock()
	defer o.mu.Unlock()
	entry.written = o.now()
	if o.deletedMeanwhile(ref, entry.uid) {
		return
	}
	if previous, ok := o.entries[ref]; ok && !previous.replacedBy(entry) {
		return
	}
	delete(o.entries, ref)
	if !entry.endedBy(o.shown(ref)) {
		o.put(ref, entry)
	}
}

// deleted records that the object with uid is gone.
func (o *overlay) deleted(ref deploy.Ref, uid types.UID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := o.shown(ref)
	previous, written := o.entries[ref]
	if uid == "" {
		uid = uidOf(previous, now)
	}
	if written && previous.uid != uid && !previous.endedBy(now) {
		return // its successor was written before the answer to the deletion came
	}
	delete(o.entries, ref)
	if o.deletedMeanwhile(ref, uid) {
		return
	}
	entry := overlayEntry{uid: uid, written: o.now()}
	if written && previous.uid == uid {
		entry.version = previous.version
	}
	if now.object != nil && now.object.GetUID() == uid && (entry.version == "" || newer(now.object.GetResourceVersion(), entry.version)) {
		entry.version = now.object.GetResourceVersion()
	}
	if !entry.endedBy(now) {
		o.put(ref, entry)
	}
}

// uidOf returns the uid of the object that is there as far as we know.
func uidOf(written overlayEntry, now shown) types.UID {
	if written.uid == "" && now.object != nil {
		return now.object.GetUID()
	}
	return written.uid
}

// put adds an entry and, now and then, looks at those that nobody reads.
func (o *overlay) put(ref deploy.Ref, entry overlayEntry) {
	o.entries[ref] = entry
	if entry.written.Sub(o.swept) <= overlayLifetime {
		return
	}
	o.swept = entry.written
	for old := range o.entries {
		o.resolve(old, o.shown(old))
	}
}

// observe ends the entries that an event of an informer makes obsolete.
func (o *overlay) observe(kind schema.GroupVersionKind, event deploy.Event) {
	ref := deploy.Ref{Kind: kind, Namespace: event.New.GetNamespace(), Name: event.New.GetName()}
	o.mu.Lock()
	defer o.mu.Unlock()
	if event.Type == deploy.Deleted {
		for _, flight := range o.flights(ref) {
			flight.deleted[event.New.GetUID()] = true
		}
	}
	entry, ok := o.entries[ref]
	if !ok {
		return
	}
	ended := entry.endedBy(shown{object: event.New})
	if event.Type == deploy.Deleted {
		ended = entry.uid == event.New.GetUID()
	}
	if ended {
		delete(o.entries, ref)
	}
}

// source says where the answer to a read comes from.
type source int

const (
	fromWatch source = iota
	fromWrite
	// fromNeither: what is there now is known to the API server only.
	fromNeither
)

// get answers for ref from the overlay or from what its informer shows. That is read under
// the lock: an entry that ends between two looks can't leave a read with neither.
func (o *overlay) get(ref deploy.Ref) (*unstructured.Unstructured, source) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.resolve(ref, o.shown(ref))
}

// list overlays objects, what the informers of a kind show, with its entries. As in get
// they are read under the lock. Not complete is a list of which the API server knows more.
func (o *overlay) list(kind schema.GroupVersionKind, namespace string, cached func() []*unstructured.Unstructured) (objects []*unstructured.Unstructured, complete bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	pending := map[deploy.Ref]bool{}
	for ref := range o.entries {
		if ref.Kind == kind && (namespace == "" || ref.Namespace == namespace) {
			pending[ref] = true
		}
	}
	complete = true
	add := func(obj *unstructured.Unstructured, from source) {
		complete = complete && from != fromNeither
		if obj != nil {
			objects = append(objects, obj)
		}
	}
	all := cached()
	for ref := range pending {
		add(o.resolve(ref, o.shown(ref)))
	}
	for _, obj := range all {
		ref := deploy.Ref{Kind: kind, Namespace: obj.GetNamespace(), Name: obj.GetName()}
		if !pending[ref] {
			objects = append(objects, obj)
		}
	}
	return objects, complete
}

func (o *overlay) resolve(ref deploy.Ref, now shown) (*unstructured.Unstructured, source) {
	entry, ok := o.entries[ref]
	if !ok {
		return now.object, fromWatch
	}
	if entry.endedBy(now) {
		delete(o.entries, ref)
		return now.object, fromWatch
	}
	if o.now().Sub(entry.written) <= overlayLifetime {
		if entry.unread {
			return nil, fromNeither
		}
		return entry.object, fromWrite
	}
	delete(o.entries, ref)
	if entry.tombstone() && now.object == nil {
		return nil, fromWatch
	}
	o.logger.Warn("own write was not seen in time, reading it", "object", ref, "version", entry.version)
	return now.object, fromNeither
}
