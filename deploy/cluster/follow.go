package cluster

import (
	"context"
	"errors"
	"time"

	"github.com/operkit/operkit/deploy"
)

// unservedPatience is how long a kind may be missing before its objects are taken for gone: an API server that
// starts serves built-in kinds a moment before those of definitions.
const unservedPatience = 10 * time.Second

// run keeps the informers of the kind, first where found says, until ctx ends.
func (k *watchedKind) run(ctx context.Context, found resource) {
	for {
		k.inform(ctx, found)
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

// inform keeps an informer for each namespace in scope while the kind is served as found says. Then its objects are
// gone.
func (k *watchedKind) inform(ctx context.Context, found resource) {
	for {
		scope, changed := k.store.scope.of(found.scope)
		k.adjust(ctx, found, scope)
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case <-k.gone:
			if !k.served(ctx, found) {
				k.adjust(ctx, found, namespaces{unread: &deploy.KindUnknownError{Kind: k.kind}})
				return
			}
		}
	}
}

// served asks the API server whether the kind is where it was.
func (k *watchedKind) served(ctx context.Context, found resource) bool {
	now, err := k.store.resources.ask(ctx, k.kind, k.store.resources.now())
	var unserved *deploy.KindUnknownError
	if err != nil {
		return !errors.As(err, &unserved)
	}
	return now.scope == found.scope
}

// adjust starts the informers that are missing and closes those that aren't wanted any more.
func (k *watchedKind) adjust(ctx context.Context, found resource, wanted namespaces) {
	k.telling.Lock()
	defer k.telling.Unlock()
	informers := map[string]*informer{}
	for namespace := range wanted.names {
		if informers[namespace] = k.informers[namespace]; informers[namespace] == nil {
			informers[namespace] = k.newInformer(ctx, found, namespace)
		}
	}
	// First, so that whoever reads meanwhile doesn't take what an informer that ends doesn't show for absent.
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
		k.tell(i.close(kind))
	}
	k.wake()
}

// close ends an informer. It returns what that is for its objects.
func (i *informer) close(kind deploy.EventType) (events []deploy.Event) {
	i.cancel()
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, obj := range i.objects.in("") {
		events = append(events, deploy.Event{Type: kind, Old: obj, New: obj})
	}
	i.objects, i.closed = newObjects(i.kind.feed.holder()), true
	return events
}

// lose has the kind looked for: it may be served no longer.
func (k *watchedKind) lose() {
	select {
	case k.gone <- struct{}{}:
	default:
	}
}
