package status

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// maxWrites is how often Write tries. If there are even more conflicts, somebody else writes faster than Write can read
// and write.
const maxWrites = 10

// The waits between the attempts begin with firstWait and double up to longestWait. They give the cache behind the
// function get, if there is one, time to catch up.
const (
	firstWait   = 10 * time.Millisecond
	longestWait = time.Second
)

// Write reads an object, computes the new object and writes it. If the function write returns a conflict of the API
// server, possibly wrapped, somebody else has written the object in between, and Write starts again. So Write never
// overwrites a change of somebody else that compute hasn't seen. Write returns the object that it passed to the
// function write, or the object that it read if nothing had to be written. The returned object doesn't have the new
// resourceVersion, unless the function write sets it.
//
// compute reports whether its result differs from the current object; if it doesn't, nothing is written. compute may be
// called several times. It must not change its argument if get reads from a cache. write has to refuse an outdated
// object, by its resourceVersion.
//
// Between the attempts Write waits, so that a cache can catch up: 10 ms at first, then twice as long each time, up to
// one second. Each wait is shortened at random, by up to half, so that several writers don't collide again. The end of
// ctx ends a wait.
//
// If a server-side apply conflicts with another field manager, the error is returned at once: reading again doesn't
// resolve this conflict.
//
// Errors: the error of ctx, wrapped together with the last conflict if there was one; the errors of the three
// functions, unchanged; and after 10 conflicts the last conflict, wrapped.
func Write[T any](
	ctx context.Context,
	get func(ctx context.Context) (T, error),
	compute func(current T) (next T, changed bool, err error),
	write func(ctx context.Context, next T) error,
) (T, error) {
	var none T
	var conflict error
	for attempt := range maxWrites {
		if err := pause(ctx, attempt); err != nil {
			if conflict != nil {
				err = fmt.Errorf("status: %w while waiting after a conflict: %w", err, conflict)
			}
			return none, err
		}
		current, err := get(ctx)
		if err != nil {
			return none, err
		}
		next, changed, err := compute(current)
		if err != nil {
			return none, err
		}
		if !changed {
			return current, nil
		}
		conflict = write(ctx, next)
		if conflict == nil {
			return next, nil
		}
		if !apierrors.IsConflict(conflict) || apierrors.HasStatusCause(conflict, metav1.CauseTypeFieldManagerConflict) {
			return none, conflict
		}
	}
	return none, fmt.Errorf("status: %d conflicts in a row: something else keeps writing the object: %w", maxWrites, conflict)
}

// pause waits before every attempt except the first. It returns the error of the context.
func pause(ctx context.Context, attempt int) error {
	if err := ctx.Err(); err != nil || attempt == 0 {
		return err
	}
	wait := min(firstWait<<(attempt-1), longestWait)
	timer := time.NewTimer(wait/2 + rand.N(wait/2+1))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// Write updates the status of an object in a cluster through the caller's functions get and write. get returns the
// whole object. write is given the whole object, writes its status subresource, and refuses an outdated object. Without
// a meaningful change (see Changed) nothing is written. Conflicts are handled as by the function Write. The method
// returns the resulting status.
//
// If a read or write fails, Write calls Warn and returns nil without an error. If the Application is invalid, or the
// time now can't be used, Write makes no call and returns an error. If the Application is Unmanaged, it makes no call
// and returns nil.
func (a Application) Write(
	ctx context.Context,
	now time.Time,
	get func(ctx context.Context) (map[string]any, error),
	write func(ctx context.Context, object map[string]any) error,
) (map[string]any, error) {
	if a.Unmanaged {
		return nil, nil
	}
	if err := a.validate(now); err != nil {
		return nil, err
	}
	object, err := Write(ctx, get, func(object map[string]any) (map[string]any, bool, error) {
		if len(object) == 0 {
			return nil, false, fmt.Errorf("there is no such object")
		}
		present, _ := object["status"].(map[string]any)
		status, changed, err := a.Update(now, present)
		if err != nil || !changed {
			return object, false, err
		}
		next := make(map[string]any, len(object)+1)
		for key, value := range object {
			next[key] = value
		}
		next["status"] = status
		return next, true, nil
	}, write)
	if err != nil {
		a.warn("the status isn't updated: %v", err)
		return nil, nil
	}
	status, _ := object["status"].(map[string]any)
	return cloneMap(status), nil
}
