package cluster

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/operkit/operkit/deploy"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// informer holds the objects of one kind in one namespace, or in all (""). It is what a Reflector of client-go
// stores into.
type informer struct {
	kind    *watchedKind
	subject failed
	// standing tells that the watch's stream is open and no list is under way, failure why the last try to open it failed.
	// What happened while a watch was cut off comes with the events of the one that goes on, a moment later.
	standing atomic.Bool
	failure  atomic.Pointer[failureState]
	// unserved is since when the kind hasn't been served; listing: the stream that is open begins with a list that
	// hasn't come to its end. Both are of the goroutine that lists and watches only.
	unserved time.Time
	listing  bool

	// mu guards what follows; who changes it holds kind.telling too.
	mu      sync.RWMutex
	objects objects
	// version is how far it has come.
	version string
	// relisting is when a list of all objects as they are then has begun, listed when the one did that they were
	// last listed by. A list that may be as old as a version seen before says nothing about what was written since.
	relisting, listed time.Time
	synced            bool
	// streamed is how many lists in a row were asked for as streams and haven't come to their end.
	streamed int
	// lists is how many lists in a row came without an event of a watch between them, the last one at replaced.
	lists    int
	replaced time.Time
	// closed: it isn't the kind's any more.
	closed bool
	cancel context.CancelFunc
}

type failureState struct{ err error }

// newInformer starts to list and watch.
func (k *watchedKind) newInformer(ctx context.Context, found resource, namespace string) *informer {
	i := &informer{
		kind: k, objects: newObjects(k.feed.holder()),
		subject: failed{verb: "list and watch", resource: found, ref: deploy.Ref{Kind: k.kind, Namespace: namespace}},
	}
	ctx, i.cancel = context.WithCancel(ctx)
	lister := &cache.ListWatch{ListWithContextFunc: i.list, WatchFuncWithContext: i.watch}
	reflector := cache.NewReflectorWithOptions(lister, &unstructured.Unstructured{}, i, cache.ReflectorOptions{
		Name: "operkit", TypeDescription: k.kind.String(),
		Backoff: &wait.Backoff{Duration: firstTry, Cap: longestTry, Steps: math.MaxInt32, Factor: 2, Jitter: 0.25},
	})
	k.store.running.Go(func() { reflector.RunWithContext(ctx) })
	return i
}

func (i *informer) list(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	if options.Continue == "" {
		i.relists(options)
	}
	list, err := persist(ctx, i, func(at schema.GroupVersionResource) (runtime.Object, error) {
		return i.kind.feed.list(ctx, at, i.subject.ref.Namespace, options)
	})
	if illFormed(err) && ctx.Err() == nil {
		i.failed(typed(ctx, err, i.subject)) // client-go has no other form to go on with
	}
	return list, err
}

func (i *informer) watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	listing := options.SendInitialEvents != nil && *options.SendInitialEvents
	if listing {
		i.relists(options)
		if !i.mayStream() {
			return nil, errNoStream
		}
	}
	stream, err := persist(ctx, i, func(at schema.GroupVersionResource) (watch.Interface, error) {
		return i.kind.feed.watch(ctx, at, i.subject.ref.Namespace, options)
	})
	if err != nil && ctx.Err() != nil {
		return watch.NewEmptyWatch(), nil //nolint:nilerr // an end is no failure, of which the Reflector would speak
	}
	if err != nil {
		return nil, err
	}
	i.listing = listing
	i.standing.Store(!listing)
	return standingWatch{stream, i}, nil
}

// served returns where the kind is served now.
func (i *informer) served(ctx context.Context) (schema.GroupVersionResource, error) {
	found, err := i.kind.store.resources.of(ctx, i.subject.ref.Kind)
	if err == nil && found.scope != i.subject.resource.scope {
		i.kind.lose()
		err = &deploy.InvalidManifestError{Ref: i.subject.ref, Reason: "its kind has another scope by now"}
	}
	return found.GroupVersionResource, err
}

func (i *informer) log() *slog.Logger {
	return i.kind.store.logger.With("kind", i.subject.ref.Kind.Kind, "namespace", i.subject.ref.Namespace)
}

// shown returns what the informer shows of ref.
func (i *informer) shown(ref deploy.Ref) shown {
	i.mu.RLock()
	defer i.mu.RUnlock()
	return shown{object: i.objects.get(ref.Namespace, ref.Name), version: i.version, listed: i.listed}
}

// atHand returns what the informer shows of ref, nil if it would have to be unpacked for that.
func (i *informer) atHand(ref deploy.Ref) *unstructured.Unstructured {
	i.mu.RLock()
	defer i.mu.RUnlock()
	return i.objects.atHand(ref.Namespace, ref.Name)
}

func (i *informer) hasSynced() bool {
	i.mu.RLock()
	defer i.mu.RUnlock()
	return i.synced
}

// errClosed tells that an informer ended while somebody waited for it: its namespace left the scope, or its kind is gone.
var errClosed = errors.New("it isn't watched any more")

func (i *informer) isClosed() bool {
	i.mu.RLock()
	defer i.mu.RUnlock()
	return i.closed
}

// awaitSynced waits for the first list. When that fails the reason is returned after a moment in which a passing
// failure may heal; errClosed when it will never come.
func (i *informer) awaitSynced(ctx context.Context) error {
	if i.hasSynced() {
		return nil
	}
	return i.kind.await(ctx, func() (bool, error) {
		state := i.failure.Load()
		switch {
		case i.hasSynced():
			return true, nil
		case i.isClosed():
			return false, errClosed
		case state != nil:
			return false, state.err
		}
		return false, nil
	})
}
