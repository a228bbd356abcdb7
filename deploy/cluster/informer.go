package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster/internal/compact"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// informer holds the objects of one kind in one namespace ("": in all namespaces). A Reflector of client-go calls its
// methods to list, to watch, and to store objects.
type informer struct {
	kind *watchedKind
	// subject describes the request in errors.
	subject failed
	cancel  context.CancelFunc

	// mu guards the following fields. To change objects or version, kind.publishing must be held, too.
	mu      sync.RWMutex
	phase   phase
	objects objects
	// version is the resourceVersion that the informer has reached.
	version string
	// listed is the time at which the last complete list began. It is zero if the content of the list may have been
	// older.
	listed time.Time
	// failure is the error of the last try to list or watch, nil if it succeeded. unserved is the time since which the
	// kind hasn't been served, zero if it is served.
	failure  error
	unserved time.Time
	lists    lists
	// leaving is empty unless objects are selected (Selected).
	leaving leaving
}

// phase is the state of an informer: how far readers can rely on it.
type phase int

const (
	// starting means that no list has completed yet.
	starting phase = iota
	// lagging means that the watch is broken, or that a list is in progress. Objects may exist that the informer
	// doesn't show.
	lagging
	// current means that the watch is open.
	current
	// closed means that the namespace left the scope, or that the kind isn't served any more. The informer shows
	// nothing.
	closed
)

var (
	_ cache.ReflectorStore         = (*informer)(nil)
	_ cache.ReflectorBookmarkStore = (*informer)(nil)
)

// errClosed is returned to callers that wait for an informer if the informer is closed meanwhile.
var errClosed = errors.New("it isn't watched any more")

// newInformer returns an informer and starts to list and watch.
func (k *watchedKind) newInformer(ctx context.Context, found resource, namespace string) *informer {
	i := &informer{
		kind: k, objects: newObjects(), leaving: newLeaving(),
		subject: failed{verb: "list and watch", resource: found, ref: deploy.Ref{Kind: k.kind, Namespace: namespace}},
	}
	ctx, i.cancel = context.WithCancel(ctx)
	lister := &cache.ListWatch{ListWithContextFunc: i.list, WatchFuncWithContext: i.watch}
	reflector := cache.NewReflectorWithOptions(lister, nil, i, cache.ReflectorOptions{
		Name: "operkit", TypeDescription: k.kind.String(),
		Backoff: &wait.Backoff{Duration: firstTry, Cap: longestTry, Steps: math.MaxInt32, Factor: 2, Jitter: 0.25},
	})
	k.store.running.Go(func() { reflector.RunWithContext(ctx) })
	if k.selects {
		k.store.running.Go(func() { i.decideLeaving(ctx) })
	}
	return i
}

// close closes the informer. It returns an event of the given type for each of its objects.
func (i *informer) close(kind deploy.EventType) (events []deploy.Event) {
	i.cancel()
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, obj := range i.known() {
		events = append(events, deploy.Event{Type: kind, Old: obj, New: obj})
	}
	clear(i.leaving.objects)
	i.objects, i.phase = newObjects(), closed
	return events
}

// list lists one page for the Reflector.
func (i *informer) list(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	if options.Continue == "" {
		i.beginList(options)
	}
	list, err := retry(ctx, i, func(at schema.GroupVersionResource) (runtime.Object, error) {
		return i.kind.feed.list(ctx, at, i.subject.ref.Namespace, options)
	})
	if illFormed(err) && ctx.Err() == nil {
		i.fail(typed(ctx, err, i.subject)) // client-go doesn't try another form of list
	}
	return list, err
}

// watch opens a watch for the Reflector. It may begin with a list.
func (i *informer) watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	listing := options.SendInitialEvents != nil && *options.SendInitialEvents
	if listing {
		i.beginList(options)
		if !i.mayStream() {
			return nil, errNoStream
		}
	}
	stream, err := retry(ctx, i, func(at schema.GroupVersionResource) (watch.Interface, error) {
		return i.kind.feed.watch(ctx, at, i.subject.ref.Namespace, options)
	})
	if err != nil && ctx.Err() != nil {
		return watch.NewEmptyWatch(), nil //nolint:nilerr // the Reflector would log an error when ctx ends
	}
	if err != nil {
		return nil, err
	}
	i.streamOpened(listing)
	return endingWatch{stream, i}, nil
}

// endingWatch notifies its informer when the watch ends. The reader of a watch calls Stop when the watch has ended.
type endingWatch struct {
	watch.Interface
	informer *informer
}

// Stop implements watch.Interface.
func (w endingWatch) Stop() {
	w.informer.streamEnded()
	w.Interface.Stop()
}

func (i *informer) streamOpened(listing bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.lists.streaming = listing
	switch {
	case listing && i.phase == current:
		i.phase = lagging
	case !listing && i.phase == lagging:
		i.phase = current
	}
}

func (i *informer) streamEnded() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.lists.streaming = false
	if i.phase == current {
		i.phase = lagging
	}
}

// Replace implements cache.ReflectorStore. The Reflector calls it with a complete list, at the start and after a watch
// that can't go on where it ended (410 Gone). The differences from the objects held before become events.
func (i *informer) Replace(all []any, version string) error {
	fresh := newObjects()
	for _, item := range all {
		obj, ok := item.(*compact.Object)
		if !ok {
			return fmt.Errorf("a %T isn't an object", item)
		}
		fresh.put(obj)
	}
	i.kind.step(i, func() []deploy.Event {
		var events []deploy.Event
		for _, before := range i.objects.in("") {
			if fresh.get(before.GetNamespace(), before.GetName()) == nil {
				events = append(events, i.leave(before)...)
			}
		}
		for _, after := range fresh.in("") {
			before := i.objects.get(after.GetNamespace(), after.GetName())
			events = append(events, i.appear(before, after)...)
		}
		i.objects, i.version, i.listed = fresh, version, i.lists.began
		i.phase = lagging
		if i.lists.streaming { // the same stream goes on with the events after the list
			i.phase = current
		}
		i.endList()
		return events
	})
	return nil
}

// Add implements cache.ReflectorStore.
func (i *informer) Add(obj any) error { return i.Update(obj) }

// Update implements cache.ReflectorStore.
func (i *informer) Update(item any) error {
	obj, ok := item.(*compact.Object)
	if !ok {
		return fmt.Errorf("a %T isn't an object", item)
	}
	after := obj.Decode()
	i.kind.step(i, func() []deploy.Event {
		i.comeTo(after.GetResourceVersion())
		return i.appear(i.objects.put(obj), after)
	})
	return nil
}

// Delete implements cache.ReflectorStore.
func (i *informer) Delete(item any) error {
	obj, ok := item.(*compact.Object)
	if !ok {
		return fmt.Errorf("a %T isn't an object", item)
	}
	last := obj.Decode()
	i.kind.step(i, func() []deploy.Event {
		i.comeTo(last.GetResourceVersion())
		if i.objects.remove(last.GetNamespace(), last.GetName()) == nil {
			return nil
		}
		return i.leave(last)
	})
	return nil
}

// known returns the objects that subscribers know: also those of which no Deleted or Left event was sent yet. mu is
// held.
func (i *informer) known() []*unstructured.Unstructured {
	return slices.AppendSeq(i.objects.in(""), maps.Values(i.leaving.objects))
}

// appear returns the events for the new state of an object. before is the state that the informer showed, nil if there
// was none. mu is held.
func (i *informer) appear(before, after *unstructured.Unstructured) []deploy.Event {
	if last := i.leaving.take(after); before == nil {
		before = last // it left, and is back
	}
	return changes(before, after)
}

// Bookmark implements cache.ReflectorBookmarkStore.
func (i *informer) Bookmark(version string) error {
	i.kind.step(i, func() []deploy.Event {
		i.comeTo(version)
		return nil
	})
	return nil
}

// Resync implements cache.ReflectorStore.
func (i *informer) Resync() error { return nil }

// shown returns the state of ref in the informer.
func (i *informer) shown(ref deploy.Ref) shown {
	i.mu.RLock()
	defer i.mu.RUnlock()
	return shown{object: i.objects.get(ref.Namespace, ref.Name), version: i.version, listed: i.listed, watched: true}
}

// state returns the phase, and the error of the last try to list or watch, if it failed.
func (i *informer) state() (phase, error) {
	i.mu.RLock()
	defer i.mu.RUnlock()
	return i.phase, i.failure
}

func (i *informer) hasSynced() bool {
	now, _ := i.state()
	return now == lagging || now == current
}

func (i *informer) isCurrent() bool {
	now, _ := i.state()
	return now == current
}

// awaitSynced waits for the first list. If the list fails, and doesn't succeed within errorPatience, awaitSynced
// returns the error. If the informer is closed, it returns errClosed.
func (i *informer) awaitSynced(ctx context.Context) error {
	if i.hasSynced() {
		return nil
	}
	return i.kind.await(ctx, func() (bool, error) {
		switch now, failure := i.state(); now {
		case starting:
			return false, failure
		case closed:
			return false, errClosed
		}
		return true, nil
	})
}

func (i *informer) log() *slog.Logger {
	return i.kind.store.logger.With("kind", i.subject.ref.Kind.Kind, "namespace", i.subject.ref.Namespace)
}
