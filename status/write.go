package status

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// maxWrites is how often Write tries: whoever conflicts more often than that
// writes faster than it reads.
const maxWrites = 10

// Write reads an object, computes what it should be and writes that, and does
// all of it again when somebody else wrote in between (a conflict of the API
// server, also a wrapped one). So what others wrote is never overwritten by
// what was computed without it. It answers the object as written, or as read
// when there was nothing to write.
//
// compute tells whether its result differs from what it was given; it isn't
// asked to write otherwise. It may be called several times, and must not change
// what it is given if get answers out of a cache. write has to refuse what is
// outdated, by the resourceVersion of what it is given.
//
// Errors: the context's, those of the three functions as they are, and after 10
// conflicts the last one, wrapped. There is no waiting between the attempts.
func Write[T any](
	ctx context.Context,
	get func(ctx context.Context) (T, error),
	compute func(current T) (next T, changed bool, err error),
	write func(ctx context.Context, next T) error,
) (T, error) {
	var none T
	var conflict error
	for range maxWrites {
		if err := ctx.Err(); err != nil {
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
		if !apierrors.IsConflict(conflict) {
			return none, conflict
		}
	}
	return none, fmt.Errorf("status: %d conflicts in a row, something else writes it all the time: %w", maxWrites, conflict)
}

// Write updates the status of an object in a cluster through the caller's
// functions: get answers the whole object, write writes a whole object's status
// subresource and refuses outdated ones. Nothing is written without a
// meaningful change, and conflicts are met as the function Write does. The
// answer is the status as it is then.
//
// A status that can't be read or written stops no reconcile: Warn hears of it
// and the answer is nil. Only an Application that is itself invalid is an error,
// before any call. When the Application is Unmanaged no call is made at all,
// and the answer is nil.
//
// spec: status 10, 15
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
