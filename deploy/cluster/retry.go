package cluster

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/operkit/operkit/deploy"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Times between two tries to list or watch. client-go's own grow to a minute, which is how long an operator would then
// see nothing after an outage of half a minute.
const (
	firstTry   = 250 * time.Millisecond
	longestTry = 5 * time.Second
)

// unservedPatience is how long a kind may be missing before its objects are taken for gone: an API server that starts
// serves built-in kinds a moment before custom ones.
const unservedPatience = 10 * time.Second

// retry tries to list or to watch where the kind is served until it works, ctx ends, or the answer is one that
// client-go acts upon.
func retry[T any](ctx context.Context, i *informer, try func(at schema.GroupVersionResource) (T, error)) (result T, err error) {
	for delay := firstTry; ; delay = min(2*delay, longestTry) {
		at, unserved := i.servedAt(ctx)
		if err = unserved; err == nil {
			result, err = try(at)
		}
		if err == nil {
			i.recovered()
			return result, nil
		}
		if ctx.Err() != nil || clientGoActs(err) {
			return result, err
		}
		if unserved == nil {
			if nothingServed(err) { // so that the next try knows where the kind is now
				found := i.kind.store.resources
				_, _ = found.ask(ctx, i.subject.ref.Kind, found.now())
			}
			err = typed(ctx, err, i.subject)
		}
		i.fail(err)
		select {
		case <-ctx.Done():
			return result, err
		case <-time.After(i.pause(delay, err)):
		}
	}
}

// servedAt returns where the kind is served now.
func (i *informer) servedAt(ctx context.Context) (schema.GroupVersionResource, error) {
	found, err := i.kind.store.resources.of(ctx, i.subject.ref.Kind)
	if err == nil && found.scope != i.subject.resource.scope {
		i.kind.lose()
		err = &deploy.InvalidManifestError{Ref: i.subject.ref, Reason: "its kind has another scope by now"}
	}
	return found.GroupVersionResource, err
}

// clientGoActs reports whether client-go itself handles err, by a list: the version is too old, or newer than the
// server's since its storage was restored, or a form of request isn't served.
func clientGoActs(err error) bool {
	return isExpired(err) || illFormed(err) || apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge)
}

// illFormed reports whether the API server doesn't take a request as it is: one for a watch that begins with a list
// where it knows none of these, or one that selects what can't be selected.
func illFormed(err error) bool { return apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) }

// fail keeps the reason for readers, logs the first of several failures, and has the kind looked for if it hasn't been
// served for too long.
func (i *informer) fail(err error) {
	var unserved *deploy.KindUnknownError
	i.mu.Lock()
	first := i.failure == nil
	i.failure = err
	switch {
	case !errors.As(err, &unserved):
		i.unserved = time.Time{}
	case i.unserved.IsZero():
		i.unserved = time.Now()
	case time.Since(i.unserved) > unservedPatience:
		i.kind.lose()
	}
	if first {
		i.lists.explained()
	}
	i.mu.Unlock()
	if !first {
		return
	}
	i.kind.wake()
	if i.kind.optional {
		i.log().Info("can't be watched, going on without", "reason", err)
	} else {
		i.log().Warn("watch failed, trying again", "error", err)
	}
}

// recovered ends a failure.
func (i *informer) recovered() {
	i.mu.Lock()
	failed := i.failure != nil
	i.failure, i.unserved = nil, time.Time{}
	i.mu.Unlock()
	if failed {
		i.log().Info("watching again")
	}
}

// pause returns how long to wait after err: delay, or longer if the API server asks for it or a right is missing that
// nobody needs.
func (i *informer) pause(delay time.Duration, err error) time.Duration {
	seconds, _ := apierrors.SuggestsClientDelay(err)
	pause := max(delay, time.Duration(seconds)*time.Second)
	var forbidden *deploy.ForbiddenError
	if i.kind.optional && errors.As(err, &forbidden) {
		pause = max(pause, longestLook)
	}
	return pause - rand.N(pause/4)
}

const (
	// maxStreams is how many lists in a row may be asked for as streams that end too early.
	maxStreams = 2
	// manyLists is how many lists in a row are worth a warning; the watch has to go on for calmAfter to be believed
	// again.
	manyLists = 4
	calmAfter = 2 * longestTry
)

var errNoStream = errors.New("lists don't come as streams")

// lists follows the lists of an informer. They are rare as long as watches work.
type lists struct {
	// began is when the list under way began; zero if it may show the objects as they were earlier, so that it says
	// nothing about what was written since.
	began time.Time
	// streaming: the open stream begins with a list that isn't complete. streams is how many in a row didn't complete
	// one.
	streaming bool
	streams   int
	// inRow is how many lists came without an event between them, the last one at replaced.
	inRow    int
	replaced time.Time
}

// explained is called when a failure is logged that explains the next lists.
func (l *lists) explained() {
	if l.inRow < manyLists {
		l.inRow = 0
	}
}

func (i *informer) beginList(options metav1.ListOptions) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.lists.began = time.Time{}
	if options.ResourceVersion == "" {
		i.lists.began = time.Now()
	}
}

// mayStream reports whether a list may be asked for as a stream. The Reflector would go on to ask an API server that
// always ends such streams, without a pause; after an error it lists, and pauses.
func (i *informer) mayStream() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.lists.streams++
	return i.lists.streams <= maxStreams
}

// endList is called with a complete list; mu is held.
func (i *informer) endList() {
	l := &i.lists
	if l.inRow < manyLists && time.Since(l.replaced) > longestLook {
		l.inRow = 0
	}
	l.replaced, l.streams, l.streaming = time.Now(), 0, false
	if l.inRow++; l.inRow == manyLists {
		i.log().Warn("watches end at once, listing again and again")
	}
}

// comeTo is called with the version of each event; mu is held.
func (i *informer) comeTo(version string) {
	i.version = version
	l := &i.lists
	switch {
	case l.inRow < manyLists:
		l.inRow = 0
	case time.Since(l.replaced) > calmAfter:
		l.inRow = 0
		i.log().Info("watching again")
	}
}
