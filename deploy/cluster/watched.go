package cluster

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// errorPatience is how long a kind that can't be read keeps its readers waiting before they
// get the reason.
const errorPatience = 200 * time.Millisecond

// watchedKind is a kind that somebody subscribed to: one informer for all namespaces, under
// "", or one for each namespace in scope; none while the kind isn't served.
type watchedKind struct {
	store *store
	kind  schema.GroupVersionKind
	feed  *feed
	// optional: it is no trouble if the kind can't be watched. viewed: reads are answered by its informers, with our
	// own writes on top.
	optional, viewed bool
	// gone has a value when the kind may be served no longer.
	gone chan struct{}

	// telling orders what happens to the objects and the telling of it.
	telling       sync.Mutex
	subscriptions []*subscription

	mu        sync.RWMutex
	informers map[string]*informer
	// unread is why there are no informers, nil while there are.
	unread error
	// changed is closed when something has that readers may wait for.
	changed chan struct{}
}

var errBeginning = errors.New("its watch is about to begin")

func (s *store) newWatchedKind(kind schema.GroupVersionKind, feed *feed) *watchedKind {
	return &watchedKind{
		store: s, kind: kind, feed: feed, gone: make(chan struct{}, 1),
		informers: map[string]*informer{}, unread: errBeginning, changed: make(chan struct{}),
	}
}

// step changes an informer, unless that has been closed, and tells what it has seen.
func (k *watchedKind) step(i *informer, do func() []deploy.Event) {
	k.telling.Lock()
	defer k.telling.Unlock()
	i.mu.Lock()
	if i.closed {
		i.mu.Unlock()
		return
	}
	before := i.synced
	events := do()
	first := i.synced && !before
	i.mu.Unlock()
	k.tell(events)
	if first {
		k.wake()
	}
}

// tell is called with telling held.
func (k *watchedKind) tell(events []deploy.Event) {
	for _, event := range events {
		// First, so that a read made because of this event isn't answered by an older write, and whether or not
		// somebody is subscribed at the moment.
		if k.viewed && event.Type != deploy.Left {
			k.store.overlay.observe(k.kind, event)
		}
		for _, s := range k.subscriptions {
			s.waiting.Put(delivery{event: event})
		}
	}
}

// of returns the informer that shows the objects of namespace, nil if there is none.
func (k *watchedKind) of(namespace string) *informer {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if everywhere, ok := k.informers[""]; ok {
		return everywhere
	}
	return k.informers[namespace]
}

func (k *watchedKind) all() []*informer {
	k.mu.RLock()
	defer k.mu.RUnlock()
	all := make([]*informer, 0, len(k.informers))
	for _, i := range k.informers {
		all = append(all, i)
	}
	return all
}

// wake has everybody who awaits something look again.
func (k *watchedKind) wake() {
	k.mu.Lock()
	defer k.mu.Unlock()
	close(k.changed)
	k.changed = make(chan struct{})
}

// await waits until look says that it is done. A failure that lasts for a moment, or that no moment helps against,
// ends it, and so does the end of the store.
func (k *watchedKind) await(ctx context.Context, look func() (done bool, failure error)) error {
	patience := time.NewTicker(errorPatience)
	defer patience.Stop()
	for impatient := false; ; {
		k.mu.RLock()
		changed := k.changed
		k.mu.RUnlock()
		done, failure := look()
		var unserved *deploy.KindUnknownError
		switch {
		case done:
			return nil
		case failure != nil && (impatient || errors.As(failure, &unserved) || errors.Is(failure, errClosed)):
			return failure
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-k.store.ctx.Done():
			return context.Cause(k.store.ctx)
		case <-patience.C:
			impatient = true
		}
	}
}

// awaitSynced waits for the first list of every informer.
func (k *watchedKind) awaitSynced(ctx context.Context) error {
	return k.await(ctx, func() (bool, error) {
		if reason := k.unreadable(); errors.Is(reason, errBeginning) {
			return false, k.store.scope.failure()
		} else if reason != nil {
			return false, reason
		}
		for _, i := range k.all() {
			if !i.hasSynced() {
				if state := i.failure.Load(); state != nil {
					return false, state.err
				}
				return false, nil
			}
		}
		return true, nil
	})
}

func (k *watchedKind) unreadable() error {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.unread
}

// collect returns what the informers hold of a namespace, or of all (""), as of says.
func (k *watchedKind) collect(namespace string, of func(o *objects) []*unstructured.Unstructured) (found []*unstructured.Unstructured) {
	for _, i := range k.all() {
		if where := i.subject.ref.Namespace; where != "" && namespace != "" && where != namespace {
			continue
		}
		i.mu.RLock()
		found = append(found, of(&i.objects)...)
		i.mu.RUnlock()
	}
	return found
}
