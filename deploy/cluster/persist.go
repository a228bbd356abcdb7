package cluster

import (
	"context"
	"math/rand/v2"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"
)

// Times between two tries to list or watch. client-go's own grow to a minute, which is how
// long an operator would then be blind after an outage of half a minute.
const (
	firstTry   = 250 * time.Millisecond
	longestTry = 5 * time.Second
)

// persist tries to list or to watch until it works, ctx ends, or the answer is one that
// client-go acts upon: a version that is too old, a form of request that isn't served.
func persist[T any](ctx context.Context, i *informer, try func() (T, error)) (T, error) {
	for delay := firstTry; ; delay = min(2*delay, longestTry) {
		result, err := try()
		if err == nil {
			if i.failure.Swap(nil) != nil {
				i.log().Info("watching again")
			}
			return result, nil
		}
		if ctx.Err() != nil || apierrors.IsResourceExpired(err) || apierrors.IsGone(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) {
			return result, err
		}
		i.failed(err)
		seconds, _ := apierrors.SuggestsClientDelay(err)
		pause := max(delay, time.Duration(seconds)*time.Second)
		select {
		case <-ctx.Done():
			return result, err
		case <-time.After(pause - rand.N(pause/4)):
		}
	}
}

// failed keeps the reason for readers and says once that something is wrong.
func (i *informer) failed(err error) {
	if apierrors.IsNotFound(err) {
		i.resources.forget(i.subject.ref.Kind)
	}
	err = typed(err, i.subject)
	if i.failure.Swap(&failureState{err}) == nil {
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
	w.Interface.Stop()
}
