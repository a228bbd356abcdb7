package cluster

import (
	"cmp"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// overlayLifetime is how long an own write stays in the overlay if no informer shows it. After a restore of etcd,
// informers may never show the write.
const overlayLifetime = 60 * time.Second

// overlay holds our own latest writes until the informers show these writes or a newer state. It also records deletions
// that informers show while a write is in flight, because the response to the write may come after the deletion.
//
// An entry ends when the informer has reached the version of the write, even if it doesn't show the object then. It
// also ends when the informer shows a newer object with another uid, when the object is deleted, or when the informer
// has listed all objects since the write. After overlayLifetime it ends with a warning.
type overlay struct {
	logger *slog.Logger
	now    func() time.Time
	// shown returns the state of an object in its informer.
	shown func(deploy.Ref) shown

	mu      sync.Mutex
	entries map[deploy.Ref]overlayEntry
	writing map[writing]*inFlight
	// swept is the time at which put last looked for entries that have ended.
	swept time.Time
}

// shown is the state of one object in its informer.
type shown struct {
	// object is nil if the informer has no object.
	object *unstructured.Unstructured
	// version is the resourceVersion that the informer has reached. It is empty if unknown.
	version string
	// listed is the time at which the last complete list began. It is zero if the content of the list may have been
	// older.
	listed time.Time
	// watched is false if there is no informer.
	watched bool
}

// overlayEntry is one write.
type overlayEntry struct {
	state   entryState
	uid     types.UID
	written time.Time
	// version is the resourceVersion of the write. For a deleted object it is the last known version. It is empty if
	// unknown.
	version string
	// object is nil unless state is present.
	object *unstructured.Unstructured
}

// entryState is the result of a write.
type entryState int

const (
	// present means that object is known, as the write returned it.
	present entryState = iota
	// unread means that uid and version of the object are known, but not its content.
	unread
	// deleted means that there is no object.
	deleted
	// unselected is like unread, but the selectors of the kind (Selected) don't match the object.
	unselected
)

// writing identifies an object with a write in flight, in any version of its kind. name is empty if the API server
// generates the name.
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

// begin is called before a write is sent. The caller calls end after the response has been recorded.
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

// flights returns the writes in flight that may be writes of ref.
func (o *overlay) flights(ref deploy.Ref) (found []*inFlight) {
	for _, name := range []string{ref.Name, ""} {
		if flight, ok := o.writing[writing{ref.Kind.GroupKind(), ref.Namespace, name}]; ok {
			found = append(found, flight)
		}
	}
	return found
}

func (o *overlay) deletedMeanwhile(ref deploy.Ref, uid types.UID) bool {
	return slices.ContainsFunc(o.flights(ref), func(flight *inFlight) bool { return flight.deleted[uid] })
}

// wrote records obj, the response to a write. It keeps a copy, because the response belongs to the caller of the write.
func (o *overlay) wrote(ref deploy.Ref, obj *unstructured.Unstructured) {
	if isGone(obj) {
		o.deleted(ref, obj.GetUID())
		return
	}
	o.keep(ref, overlayEntry{state: present, uid: obj.GetUID(), version: obj.GetResourceVersion(), object: obj})
}

// wroteUnread records a write whose response, obj, has the uid and version of ref but not its content.
func (o *overlay) wroteUnread(ref deploy.Ref, obj *unstructured.Unstructured) {
	o.keep(ref, overlayEntry{state: unread, uid: obj.GetUID(), version: obj.GetResourceVersion()})
}

// wroteUnselected records a write after which the selectors of the kind don't match obj, the response.
func (o *overlay) wroteUnselected(ref deploy.Ref, obj *unstructured.Unstructured) {
	if isGone(obj) {
		o.deleted(ref, obj.GetUID())
		return
	}
	o.keep(ref, overlayEntry{state: unselected, uid: obj.GetUID(), version: obj.GetResourceVersion()})
}

// fateOf returns what an own write did to an object that a watch with selectors doesn't show any more. last is the last
// state that the watch showed, with the resourceVersion of the change. ok is false if the own writes don't show it.
func (o *overlay) fateOf(ref deploy.Ref, last *unstructured.Unstructured) (event deploy.EventType, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	entry, ok := o.entries[ref]
	switch {
	case !ok || entry.uid != last.GetUID():
		return "", false
	case entry.state == deleted:
		return deploy.Deleted, true
	case entry.state == unselected && entry.version == last.GetResourceVersion():
		return deploy.Left, true
	}
	return "", false
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
	if entry.endedBy(o.shown(ref)) {
		return
	}
	if entry.object != nil {
		entry.object = entry.object.DeepCopy()
	}
	o.put(ref, entry)
}

// deleted records that the object with uid is gone. An empty uid means the object that the overlay or the informer has.
func (o *overlay) deleted(ref deploy.Ref, uid types.UID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := o.shown(ref)
	previous, written := o.entries[ref]
	uid = cmp.Or(uid, previous.uid)
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

// put adds an entry. Now and then it also removes all entries that have ended. Otherwise an entry that nobody reads
// would stay forever.
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

// observe removes the entry that an event of an informer makes obsolete. It records a deletion for the writes in
// flight.
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

// source says where the result of a read comes from.
type source int

const (
	fromWatch source = iota
	fromWrite
	// fromNeither means that only the API server knows the object.
	fromNeither
)

// get returns the object of ref, nil if there is none. It reads the informer under the lock. Otherwise an entry could
// end between the two reads, and neither of them would return the object.
func (o *overlay) get(ref deploy.Ref) (*unstructured.Unstructured, source) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.resolve(ref, o.shown(ref))
}

// list returns the objects of a kind: the objects that cached returns from informers, with the entries on top. It calls
// cached under the lock, for the same reason as get. complete is false if there is an object that only the API server
// knows.
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
		hidden := o.entries[ref].state == unselected
		obj, from := o.resolve(ref, o.shown(ref))
		complete = complete && (from != fromNeither || hidden)
		if obj != nil {
			objects = append(objects, obj)
		}
	}
	return objects, complete
}

// resolve returns the object of ref. now is the state in its informer. It removes the entry of ref if the entry has
// ended.
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
	case !expired && (entry.state == unread || entry.state == unselected):
		return nil, fromNeither
	case !expired:
		return entry.object, fromWrite
	}
	delete(o.entries, ref)
	if (entry.state == deleted || entry.state == unselected) && now.object == nil {
		return nil, fromWatch
	}
	if now.watched {
		o.logger.Warn("the watch did not show our own write in time, reading the object", "object", ref, "version", entry.version)
	}
	return now.object, fromNeither
}

// endedBy reports whether an informer shows the write or a newer state. Versions can be compared across all objects of
// a kind. If client-go's feature AtomicFIFO is off, the version that the informer has reached isn't known. Then only
// the version of the object counts.
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

// replacedBy reports whether other, the entry of another own write, is newer. The order of calls doesn't show this,
// because responses may overtake each other.
func (e overlayEntry) replacedBy(other overlayEntry) bool {
	if e.state == deleted {
		return other.uid != e.uid
	}
	return newer(other.version, e.version)
}

// newer reports whether version a is later than b. If they can't be compared, it returns true, so that an own write
// isn't hidden.
func newer(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err != nil || order > 0
}

// reached reports whether version a is equal to b or later. If they can't be compared, it returns false.
func reached(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order >= 0
}

// isGone reports whether a write with the response obj removed the object: the object was being deleted and has no
// finalizers left. It returns false for a Namespace. The finalizers of a Namespace are in its spec, which the response
// may lack, so only a watch shows that it is gone.
func isGone(obj *unstructured.Unstructured) bool {
	if obj.GetDeletionTimestamp() == nil || len(obj.GetFinalizers()) > 0 || obj.GroupVersionKind() == namespaceKind {
		return false
	}
	grace := obj.GetDeletionGracePeriodSeconds()
	return grace == nil || *grace == 0
}
