package cluster

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/internal/selection"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// errorPatience is how long readers wait for a kind that can't be read before they get the error.
const errorPatience = 200 * time.Millisecond

// watchedKind is a kind with subscriptions. It has one informer for all namespaces, under "", or one informer for each
// namespace in scope. It has none while the kind isn't served.
type watchedKind struct {
	store *store
	kind  schema.GroupVersionKind
	feed  *feed
	// optional means that the cluster works without a watch of the kind. viewed means that the store serves reads from
	// the informers of the kind.
	optional, viewed bool
	// selects means that the API server sends only some objects of the kind.
	selects bool
	// users counts the subscriptions, and end ends the informers. They are guarded by the lock of the store.
	users int
	end   context.CancelFunc
	// gone has a value if the kind has to be checked because it may not be served any more.
	gone chan struct{}

	// publishing is held while objects change and subscribers get the events, so that all subscribers get them in the
	// same order.
	publishing    sync.Mutex
	subscriptions []*subscription

	mu        sync.RWMutex
	informers map[string]*informer
	// unread says why there are no informers. It is nil if there are informers.
	unread error
	// changed is closed, and replaced, when something changes that readers may wait for.
	changed chan struct{}
}

var errBeginning = errors.New("its watch hasn't begun yet")

func (s *store) newWatchedKind(kind schema.GroupVersionKind, metadataOnly bool, selected selection.Selection) *watchedKind {
	feed := &feed{requests: s.requests, kind: kind, metadataOnly: metadataOnly, selected: selected, pool: s.pool, logger: s.logger}
	return &watchedKind{
		store: s, kind: kind, feed: feed, gone: make(chan struct{}, 1), selects: !selected.All(),
		informers: map[string]*informer{}, unread: errBeginning, changed: make(chan struct{}),
	}
}

// run keeps informers of the kind until ctx ends. found is the resource that serves the kind at first.
func (k *watchedKind) run(ctx context.Context, found resource) {
	for {
		k.runAt(ctx, found)
		if ctx.Err() != nil {
			return
		}
		k.store.logger.Warn("the kind isn't served any more, waiting until it is", "kind", k.kind.Kind, "version", k.kind.GroupVersion().String())
		next, err := k.store.definitions.await(ctx, k.kind)
		if err != nil {
			return // ctx has ended
		}
		k.store.logger.Info("the kind is served again", "kind", k.kind.Kind, "version", k.kind.GroupVersion().String())
		found = next
	}
}

// runAt keeps an informer for each namespace in scope as long as found serves the kind. After that, runAt closes the
// informers, and subscribers get Deleted events for their objects.
func (k *watchedKind) runAt(ctx context.Context, found resource) {
	for {
		scope, changed := k.store.scope.of(found.scope)
		k.adjust(ctx, found, scope)
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case <-k.gone:
			if !k.isServed(ctx, found) {
				k.adjust(ctx, found, namespaces{unread: &deploy.KindUnknownError{Kind: k.kind}})
				return
			}
		}
	}
}

// isServed asks the API server whether the kind is still served in the scope of found. If the request fails, it returns
// true.
func (k *watchedKind) isServed(ctx context.Context, found resource) bool {
	now, err := k.store.resources.ask(ctx, k.kind, k.store.resources.now())
	var unserved *deploy.KindUnknownError
	if err != nil {
		return !errors.As(err, &unserved)
	}
	return now.scope == found.scope
}

// lose requests that run checks whether the kind is still served.
func (k *watchedKind) lose() {
	select {
	case k.gone <- struct{}{}:
	default:
	}
}

// adjust starts missing informers, and closes informers of namespaces that aren't in wanted any more.
func (k *watchedKind) adjust(ctx context.Context, found resource, wanted namespaces) {
	k.publishing.Lock()
	defer k.publishing.Unlock()
	informers := map[string]*informer{}
	for namespace := range wanted.names {
		if informers[namespace] = k.informers[namespace]; informers[namespace] == nil {
			informers[namespace] = k.newInformer(ctx, found, namespace)
		}
	}
	// Replace the map before any informer is closed. Otherwise a reader could find a closed informer, which is empty,
	// and conclude that its objects don't exist.
	before := k.informers
	k.mu.Lock()
	k.informers, k.unread = informers, wanted.unread
	k.mu.Unlock()
	for namespace, i := range before {
		if informers[namespace] != nil {
			continue
		}
		kind := deploy.Left
		if wanted.unread != nil || wanted.gone(namespace) {
			kind = deploy.Deleted
		}
		k.publish(i.close(kind))
	}
	k.wake()
}

// close ends the informers for good. Readers that wait for them get errClosed. There are no subscribers.
func (k *watchedKind) close() {
	k.publishing.Lock()
	defer k.publishing.Unlock()
	k.mu.Lock()
	informers := k.informers
	k.informers, k.unread = map[string]*informer{}, errClosed
	k.mu.Unlock()
	for _, i := range informers {
		i.close(deploy.Left)
	}
	k.wake()
}

// step calls change and publishes the events that it returns, unless the informer is closed.
func (k *watchedKind) step(i *informer, change func() []deploy.Event) {
	k.publishing.Lock()
	defer k.publishing.Unlock()
	i.mu.Lock()
	if i.phase == closed {
		i.mu.Unlock()
		return
	}
	first := i.phase == starting
	events := change()
	first = first && i.phase != starting
	i.mu.Unlock()
	k.publish(events)
	if first {
		k.wake()
	}
}

// publish sends events. publishing is held.
func (k *watchedKind) publish(events []deploy.Event) {
	for _, event := range events {
		// Update the overlay first. Otherwise a subscriber that reads after this event could get an older write.
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
	return slices.Collect(maps.Values(k.informers))
}

// collect calls find for the objects of each informer of a namespace ("": of all namespaces), and returns all results.
func (k *watchedKind) collect(namespace string, find func(o *objects) []*unstructured.Unstructured) (found []*unstructured.Unstructured) {
	for _, i := range k.all() {
		if where := i.subject.ref.Namespace; where != "" && namespace != "" && where != namespace {
			continue
		}
		i.mu.RLock()
		found = append(found, find(&i.objects)...)
		i.mu.RUnlock()
	}
	return found
}

// known returns the objects that subscribers know, of all informers.
func (k *watchedKind) known() (found []*unstructured.Unstructured) {
	for _, i := range k.all() {
		i.mu.RLock()
		found = append(found, i.known()...)
		i.mu.RUnlock()
	}
	return found
}

func (k *watchedKind) unreadable() error {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.unread
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
			if now, failure := i.state(); now == starting {
				return false, failure
			}
		}
		return true, nil
	})
}

// await calls look, and again after each change, until look returns true for done. If look returns a failure, await
// returns the failure: at once if waiting can't help, and otherwise after errorPatience. It also returns when ctx or
// the context of the store ends.
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

// wake makes every await call look again.
func (k *watchedKind) wake() {
	k.mu.Lock()
	defer k.mu.Unlock()
	close(k.changed)
	k.changed = make(chan struct{})
}
