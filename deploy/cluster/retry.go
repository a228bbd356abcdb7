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

// Pauses between two tries to list or watch. client-go's own pauses grow to a minute. So after an outage of half a
// minute, an operator would get no events for up to a minute.
const (
	firstTry   = 250 * time.Millisecond
	longestTry = 5 * time.Second
)

// unservedPatience is how long a kind may be missing before its objects count as gone. A starting API server serves
// built-in kinds slightly before custom ones.
const unservedPatience = 10 * time.Second

// retry calls try, with the resource that serves the kind, until try succeeds or returns an error that client-go
// handles, or until ctx ends.
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
			if nothingServed(err) { // find out which resource serves the kind now, for the next try
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

// servedAt returns the resource that serves the kind now.
func (i *informer) servedAt(ctx context.Context) (schema.GroupVersionResource, error) {
	found, err := i.kind.store.resources.of(ctx, i.subject.ref.Kind)
	if err == nil && found.scope != i.subject.resource.scope {
		i.kind.lose()
		err = &deploy.InvalidManifestError{Ref: i.subject.ref, Reason: "the scope of its kind has changed"}
	}
	return found.GroupVersionResource, err
}

// clientGoActs reports whether client-go itself handles err, by listing again. This is so if the resourceVersion is too
// old (410 Gone), if it is newer than the server's (after a restore of its storage), or if the server doesn't support
// this form of request.
func clientGoActs(err error) bool {
	return isExpired(err) || illFormed(err) || apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge)
}

// illFormed reports whether the API server refuses the form of a request: an invalid selector, or a watch that begins
// with a list if the server doesn't support such watches.
func illFormed(err error) bool { return apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) }

// fail keeps the error for readers, and logs the first of several failures. If the kind hasn't been served for too
// long, it requests a check of the kind.
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
		i.log().Info("the kind can't be watched, continuing without a watch", "reason", err)
	} else {
		i.log().Warn("watch failed, trying again", "error", err)
	}
}

// recovered records that list or watch succeeded again.
func (i *informer) recovered() {
	i.mu.Lock()
	failed := i.failure != nil
	i.failure, i.unserved = nil, time.Time{}
	i.mu.Unlock()
	if failed {
		i.log().Info("watching again")
	}
}

// pause returns how long to wait after err: about delay, or longer if the API server asks for it, or if the permission
// for an optional kind is missing.
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
	// maxStreams is how many streams in a row may end before their list is complete. After that, lists aren't requested
	// as streams.
	maxStreams = 2
	// manyLists is how many lists in a row, without an event between them, cause a warning. After that a watch must
	// last for calmAfter to count as working again.
	manyLists = 4
	calmAfter = 2 * longestTry
)

var errNoStream = errors.New("streamed lists end too early")

// lists tracks the lists of an informer, to notice when watches don't work.
type lists struct {
	// began is the time at which the current list began. It is zero if the list may show older states, because then the
	// list may lack writes before that time.
	began time.Time
	// streaming means that the open stream begins with a list that isn't complete yet. streams is how many streams in a
	// row were requested without completing a list.
	streaming bool
	streams   int
	// repeated is how many lists completed without an event between them. replaced is the time at which the last of
	// them completed.
	repeated int
	replaced time.Time
}

// explained is called when a failure was logged. The failure explains the lists so far, so they don't count.
func (l *lists) explained() {
	if l.repeated < manyLists {
		l.repeated = 0
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

// mayStream reports whether a list may be requested as a stream. If the API server always ends such streams early, the
// Reflector would request them again and again without a pause. After an error the Reflector sends lists instead, with
// pauses.
func (i *informer) mayStream() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.lists.streams++
	return i.lists.streams <= maxStreams
}

// endList is called when a list is complete. mu is held.
func (i *informer) endList() {
	l := &i.lists
	if l.repeated < manyLists && time.Since(l.replaced) > longestLook {
		l.repeated = 0
	}
	l.replaced, l.streams, l.streaming = time.Now(), 0, false
	if l.repeated++; l.repeated == manyLists {
		i.log().Warn("watches end immediately, listing repeatedly")
	}
}

// comeTo is called with the resourceVersion of each event. mu is held.
func (i *informer) comeTo(version string) {
	i.version = version
	l := &i.lists
	switch {
	case l.repeated < manyLists:
		l.repeated = 0
	case time.Since(l.replaced) > calmAfter:
		l.repeated = 0
		i.log().Info("watching again")
	}
}
