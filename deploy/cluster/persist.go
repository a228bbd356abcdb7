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
	"k8s.io/apimachinery/pkg/watch"
)

// Times between two tries to list or watch. client-go's own grow to a minute, which is how
// long an operator would then be blind after an outage of half a minute.
const (
	firstTry   = 250 * time.Millisecond
	longestTry = 5 * time.Second
)

// persist tries to list or to watch where the kind is served until it works, ctx ends, or
// the answer is one that client-go acts upon.
func persist[T any](ctx context.Context, i *informer, try func(at schema.GroupVersionResource) (T, error)) (result T, err error) {
	for delay := firstTry; ; delay = min(2*delay, longestTry) {
		at, unserved := i.served(ctx)
		if unserved == nil {
			result, err = try(at)
		} else {
			err = unserved
		}
		if err == nil {
			i.unserved = time.Time{}
			if i.failure.Swap(nil) != nil {
				i.log().Info("watching again")
			}
			return result, nil
		}
		if ctx.Err() != nil || actedUpon(err) {
			return result, err
		}
		if unserved == nil {
			i.outdated(ctx, err)
			err = typed(ctx, err, i.subject)
		}
		i.missed(unserved)
		i.failed(err)
		seconds, _ := apierrors.SuggestsClientDelay(err)
		pause := max(delay, time.Duration(seconds)*time.Second, i.patience(err))
		select {
		case <-ctx.Done():
			return result, err
		case <-time.After(pause - rand.N(pause/4)):
		}
	}
}

// actedUpon tells whether client-go goes on otherwise after err: with a list, because a
// version is too old, or newer than the server knows since its storage was restored, or
// because a form of request isn't served.
func actedUpon(err error) bool {
	return isExpired(err) || illFormed(err) || apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge)
}

// illFormed tells whether the API server doesn't take a request as it is: one for a watch that begins with a list where it
// knows none of these, or one that selects what can't be selected.
func illFormed(err error) bool { return apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) }

// outdated has the API server asked where the kind is when nothing is where it was.
func (i *informer) outdated(ctx context.Context, err error) {
	if nothingServed(err) {
		found := i.kind.store.resources
		// What comes of it is told by the next try.
		_, _ = found.ask(ctx, i.subject.ref.Kind, found.now())
	}
}

// missed notes for how long the kind hasn't been served, and has it looked for when that is too long.
func (i *informer) missed(err error) {
	var unserved *deploy.KindUnknownError
	switch {
	case !errors.As(err, &unserved):
		i.unserved = time.Time{}
	case i.unserved.IsZero():
		i.unserved = time.Now()
	case time.Since(i.unserved) > unservedPatience:
		i.kind.lose()
	}
}

// patience is how long it is of no use to try again.
func (i *informer) patience(err error) time.Duration {
	var forbidden *deploy.ForbiddenError
	if i.kind.optional && errors.As(err, &forbidden) {
		return longestLook
	}
	return 0
}

// failed keeps the reason for readers and says once that something is wrong.
func (i *informer) failed(err error) {
	if i.failure.Swap(&failureState{err}) != nil {
		return
	}
	i.interrupted()
	i.kind.wake()
	if i.kind.optional {
		i.log().Info("can't be watched, going on without", "reason", err)
	} else {
		i.log().Warn("watch failed, trying again", "error", err)
	}
}

// standingWatch is a stream whose end the informer is told.
type standingWatch struct {
	watch.Interface
	informer *informer
}

// Stop implements watch.Interface; whoever reads a stream calls it when the stream ends.
func (w standingWatch) Stop() {
	w.informer.standing.Store(false)
	w.informer.listing = false
	w.Interface.Stop()
}
