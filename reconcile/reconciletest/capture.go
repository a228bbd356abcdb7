package reconciletest

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A cluster in memory is compared with what was last seen, after each write and before each look: so that there are no
// goroutines, and events come in the same order each time.

// list queues the existing objects of a kind as events for a new subscription.
func (e *events) list(to *subscription) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	kind := to.Watched()
	if err := e.captureKind(kind); err != nil {
		return err
	}
	for _, event := range compare(nil, e.seen[kind]) {
		e.waiting = append(e.waiting, happened{event, to, e.clock.now(), true})
	}
	return nil
}

// captureAll queues the changes of all watched kinds. On a real cluster there are none: listen queues them.
func (e *events) captureAll() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	var errs error
	for _, kind := range e.inOrder() {
		errs = cmp.Or(errs, e.captureKind(kind))
	}
	return errs
}

// inOrder returns the kinds in memory that are watched: controlled kinds come first, since an owner may be created
// together with its objects.
func (e *events) inOrder() []schema.GroupVersionKind {
	return slices.SortedFunc(maps.Keys(e.seen), func(a, b schema.GroupVersionKind) int {
		if first, second := e.driven[a] != nil, e.driven[b] != nil; first != second {
			return map[bool]int{true: -1, false: 1}[first]
		}
		return strings.Compare(a.String(), b.String())
	})
}

// captureKind queues the changes of a kind. The caller holds the lock.
func (e *events) captureKind(kind schema.GroupVersionKind) error {
	objects, stalled := e.stalls.list(kind, "", selected(nil))
	var err error
	if !stalled {
		objects, err = e.memory.View().List(e.t.Context(), kind, "", nil)
	}
	if err != nil && !failure.Is[*deploy.KindUnknownError](err) {
		return err
	}
	now := make(map[deploy.Ref]*unstructured.Unstructured, len(objects))
	for _, obj := range objects {
		now[deploy.RefOf(obj)] = obj
	}
	e.publish(kind, compare(e.seen[kind], now))
	e.seen[kind] = now
	return nil
}

// capture queues the change of one object in memory.
func (e *events) capture(ref deploy.Ref) {
	if e == nil {
		return // before the start
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for kind, seen := range e.seen {
		if kind.GroupKind() != ref.Kind.GroupKind() {
			continue
		}
		ref.Kind = kind
		if _, stalled := e.stalls.get(ref); stalled {
			continue // look finds the operator's own writes
		}
		obj, err := e.memory.View().Get(e.t.Context(), ref)
		if err != nil {
			continue // the test has ended, or its kind has gone: look finds out
		}
		before, now := map[deploy.Ref]*unstructured.Unstructured{}, map[deploy.Ref]*unstructured.Unstructured{}
		if old := seen[ref]; old != nil {
			before[ref] = old
		}
		if delete(seen, ref); obj != nil {
			now[ref], seen[ref] = obj, obj
		}
		e.publish(kind, compare(before, now))
	}
}

// publish queues events for the subscriptions to a kind. The caller holds the lock.
func (e *events) publish(kind schema.GroupVersionKind, happens []deploy.Event) {
	if len(happens) == 0 {
		return
	}
	for _, event := range happens {
		for _, to := range e.subscriptions {
			if to.Watched() == kind {
				e.waiting = append(e.waiting, happened{event, to, e.clock.now(), false})
			}
		}
	}
	e.woken()
}

// compare returns the events between two states, in the order of the versions.
func compare(before, now map[deploy.Ref]*unstructured.Unstructured) (happens []deploy.Event) {
	for ref, obj := range now {
		switch old := before[ref]; {
		case old == nil:
			happens = append(happens, deploy.Event{Type: deploy.Added, New: obj})
		case old.GetUID() != obj.GetUID():
			happens = append(happens, deploy.Event{Type: deploy.Deleted, Old: old, New: old}, deploy.Event{Type: deploy.Added, New: obj})
		case old.GetResourceVersion() != obj.GetResourceVersion():
			happens = append(happens, deploy.Event{Type: deploy.Modified, Old: old, New: obj})
		}
	}
	for ref, old := range before {
		if now[ref] == nil {
			happens = append(happens, deploy.Event{Type: deploy.Deleted, Old: old, New: old})
		}
	}
	slices.SortStableFunc(happens, func(a, b deploy.Event) int {
		return cmp.Compare(versionOf(a.New), versionOf(b.New))
	})
	return happens
}

func versionOf(obj *unstructured.Unstructured) uint64 {
	version, _ := strconv.ParseUint(obj.GetResourceVersion(), 10, 64) // memory has written it
	return version
}
