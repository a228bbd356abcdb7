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

// overlayLifetime is how long an own write stays in the overlay if no informer shows it. After a restore of etcd, an
// informer may never show it.
const overlayLifetime = 60 * time.Second

// overlay holds our own latest writes until the informers show them, or something newer. It also records deletions that
// informers show while a write is in flight, since the response to the write may come after the deletion.
//
// An entry ends when the informer has reached the version of the write, whether it shows the object then or not; when
// it shows an object with another uid; when the object is deleted; when it has listed all objects again since the
// write; or, with a warning, after overlayLifetime.
type overlay struct {
	logger *slog.Logger
	now    func() time.Time
	// shown returns what an informer shows.
	shown func(deploy.Ref) shown

	mu      sync.Mutex
	entries map[deploy.Ref]overlayEntry
	writing map[writing]*inFlight
	// swept is when entries that nobody reads were looked at last.
	swept time.Time
}

// shown is what an informer shows of one object.
type shown struct {
	// object is nil if it shows none.
	object *unstructured.Unstructured
	// version is the version that the informer has reached; empty if unknown.
	version string
	// listed is when the last complete list began; zero if its content may have been older than that.
	listed time.Time
}

// overlayEntry is one write.
type overlayEntry struct {
	state   entryState
	uid     types.UID
	written time.Time
	// version is the version of the write, or the last known one of a deleted object; empty if unknown.
	version string
	// object is nil unless the entry is present.
	object *unstructured.Unstructured
}

// entryState is the result of a write.
type entryState int

const (
	// present: the object as the write returned it.
	present entryState = iota
	// unread: an object with known uid and version but unknown content.
	unread
	// deleted: no object.
	deleted
)

// writing identifies an object with a write in flight, in any version of its kind. Without a name the API server
// generates it.
type writing struct {
	schema.GroupKind
	namespace, name string
}

// inFlight are the writes of one object that are in flight.
type inFlight struct {
	count int
	// deleted are the uids of objects whose deletion an informer has shown meanwhile.
	deleted map[types.UID]bool
}

func newOverlay(logger *slog.Logger, view func(deploy.Ref) shown) *overlay {
	return &overlay{
		logger: logger, now: time.Now, shown: view,
		entries: map[deploy.Ref]overlayEntry{}, writing: map[writing]*inFlight{},
	}
}

// begin is called before a write is sent. The returned function is called when its response has been recorded.
func (o *overlay) begin(ref deploy.Ref) (end func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	key := writing{ref.Kind.GroupKind(), ref.Namespace, ref.Name}
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

// flights returns the writes in flight that may be of ref.
func (o *overlay) flights(ref deploy.Ref) (found []*inFlight) {
	for _, name := range []string{ref.Name, ""} {
		if flight, ok := o.writing[writing{ref.Kind.GroupKind(), ref.Namespace, name}]; ok {
			found = append(found, flight)
		}
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

// wrote records obj, the response to a write.
func (o *overlay) wrote(ref deploy.Ref, obj *unstructured.Unstructured) {
	if isGone(obj) {
		o.deleted(ref, obj.GetUID())
		return
	}
	o.keep(ref, overlayEntry{state: present, uid: obj.GetUID(), version: obj.GetResourceVersion(), object: obj})
}

// wroteUnread records a write whose response, obj, doesn't have the content of ref.
func (o *overlay) wroteUnread(ref deploy.Ref, obj *unstructured.Unstructured) {
	o.keep(ref, overlayEntry{state: unread, uid: obj.GetUID(), version: obj.GetResourceVersion()})
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

// deleted records that the object with uid is gone; an empty uid means the object that we know of.
func (o *overlay) deleted(ref deploy.Ref, uid types.UID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := o.shown(ref)
	previous, written := o.entries[ref]
	if uid == "" {
		uid = previous.uid
	}
	if uid == "" && now.object != nil {
		uid = now.object.GetUID()
	}
	if written && previous.uid != uid && !previous.endedBy(now) {
		return // a new object was written before the response to the deletion came
	}
	delete(o.entries, ref)
	if o.deletedMeanwhile(ref, uid) {
		return
	}
	entry := overlayEntry{state: deleted, uid: uid, written: o.now()}
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

// put adds an entry and, now and then, removes ended entries that nobody reads.
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

// observe removes the entry that an event of an informer makes obsolete.
func (o *overlay) observe(kind schema.GroupVersionKind, event deploy.Event) {
	ref := deploy.Ref{Kind: kind, Namespace: event.New.GetNamespace(), Name: event.New.GetName()}
	o.mu.Lock()
	defer o.mu.Unlock()
	entry, ok := o.entries[ref]
	ended := ok && entry.endedBy(shown{object: event.New})
	if event.Type == deploy.Deleted {
		for _, flight := range o.flights(ref) {
			flight.deleted[event.New.GetUID()] = true
		}
		ended = ok && entry.uid == event.New.GetUID()
	}
	if ended {
		delete(o.entries, ref)
	}
}

// source is where the result of a read comes from.
type source int

const (
	fromWatch source = iota
	fromWrite
	// fromNeither: only the API server knows the object.
	fromNeither
)

// get returns the object of ref, nil if there is none. It reads the informer under the lock: otherwise an entry could
// end between both reads, and neither would have the object.
func (o *overlay) get(ref deploy.Ref) (*unstructured.Unstructured, source) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.resolve(ref, o.shown(ref))
}

// list returns the objects of a kind: those that cached returns from informers, with the entries on top. It calls
// cached under the lock, for the same reason as get. complete is false if only the API server knows one of the objects.
func (o *overlay) list(kind schema.GroupVersionKind, namespace string, cached func() []*unstructured.Unstructured) (objects []*unstructured.Unstructured, complete bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	pending := map[deploy.Ref]bool{}
	for ref := range o.entries {
		if ref.Kind == kind && (namespace == "" || ref.Namespace == namespace) {
			pending[ref] = true
		}
	}
	for _, obj := range cached() {
		if !pending[deploy.Ref{Kind: kind, Namespace: obj.GetNamespace(), Name: obj.GetName()}] {
			objects = append(objects, obj)
		}
	}
	complete = true
	for ref := range pending {
		obj, from := o.resolve(ref, o.shown(ref))
		complete = complete && from != fromNeither
		if obj != nil {
			objects = append(objects, obj)
		}
	}
	return objects, complete
}

// resolve returns the object of ref, given what its informer shows, and removes an entry that has ended.
func (o *overlay) resolve(ref deploy.Ref, now shown) (*unstructured.Unstructured, source) {
	entry, ok := o.entries[ref]
	if !ok {
		return now.object, fromWatch
	}
	expired := o.now().Sub(entry.written) > overlayLifetime
	switch {
	case entry.endedBy(now):
		delete(o.entries, ref)
		return now.object, fromWatch
	case !expired && entry.state == unread:
		return nil, fromNeither
	case !expired:
		return entry.object, fromWrite
	}
	delete(o.entries, ref)
	if entry.state == deleted && now.object == nil {
		return nil, fromWatch
	}
	o.logger.Warn("own write was not seen in time, reading it", "object", ref, "version", entry.version)
	return now.object, fromNeither
}

// endedBy reports whether an informer shows the write or something newer. Versions can be compared across all objects
// of a kind. If client-go's feature AtomicFIFO is off, the version that the informer has reached isn't known, and only
// that of the object counts.
func (e overlayEntry) endedBy(now shown) bool {
	switch {
	case now.listed.After(e.written):
		return true
	case now.object == nil:
		return reached(now.version, e.version)
	case e.state == deleted: // the informer may still show an older state, or an earlier object of this name
		return now.object.GetUID() != e.uid && newer(now.object.GetResourceVersion(), e.version)
	}
	return reached(now.version, e.version) || reached(now.object.GetResourceVersion(), e.version)
}

// replacedBy reports whether other, the entry of another own write, is newer: responses may overtake each other.
func (e overlayEntry) replacedBy(other overlayEntry) bool {
	if e.state == deleted {
		return other.uid != e.uid
	}
	return newer(other.version, e.version)
}

// newer reports whether version a is later than b. If they can't be compared it returns true, so that an own write
// isn't hidden.
func newer(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err != nil || order > 0
}

// reached reports whether version a is b or later. If they can't be compared it returns false.
func reached(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order >= 0
}

// isGone reports whether a write with the response obj removed the object: it was being deleted and has no finalizers
// left. It is false for a Namespace, whose finalizers are in its spec, which may be missing from the response: only a
// watch shows that it is gone.
func isGone(obj *unstructured.Unstructured) bool {
	if obj.GetDeletionTimestamp() == nil || len(obj.GetFinalizers()) > 0 || obj.GroupVersionKind() == namespaceKind {
		return false
	}
	grace := obj.GetDeletionGracePeriodSeconds()
	return grace == nil || *grace == 0
}
