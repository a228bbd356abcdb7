package source

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/failure"
)

// Poll calls fetch immediately, and again when the interval has passed since fetch returned. It brings to reconcile the
// objects of the keys whose value was added, changed or removed since the last successful call; after the first call,
// of all keys. A value may be a version, a hash or a time. After an error the known values stay, and fetch is called
// again after the interval. An error with the same text as in the call before isn't logged again. A panic counts as an
// error. fetch is never called concurrently: a fetch that hangs stops the poll, so give it a timeout.
func Poll[V comparable](interval time.Duration, fetch func(ctx context.Context) (map[deploy.Ref]V, error)) External {
	return &poll[V]{interval, fetch == nil, func(ctx context.Context, target Target, last map[deploy.Ref]V) (map[deploy.Ref]V, map[string]error) {
		now, err := failure.Value(func() (map[deploy.Ref]V, error) { return fetch(ctx) })
		if err != nil {
			return last, map[string]error{err.Error(): fmt.Errorf("poll: %w", err)}
		}
		if ctx.Err() == nil {
			target.Bring(differing(last, now)...)
		}
		return maps.Clone(now), nil // fetch may reuse its map
	}}
}

// PollEach calls fetch for each known object of the kind that is reconciled, one after the other: immediately, and
// again when the interval has passed since the end of the last round. It brings to reconcile the objects whose value is
// new or has changed. After an error for an object, the known value of that object stays. Errors and panics are
// otherwise treated as in Poll; an error that several objects have is logged once. Use it where values can only be
// fetched one by one; Poll fetches all at once.
func PollEach[V comparable](interval time.Duration, fetch func(ctx context.Context, key deploy.Ref) (V, error)) External {
	return &poll[V]{interval, fetch == nil, func(ctx context.Context, target Target, last map[deploy.Ref]V) (map[deploy.Ref]V, map[string]error) {
		now, failed := map[deploy.Ref]V{}, map[string]error{}
		for _, key := range target.Keys() {
			value, err := failure.Value(func() (V, error) { return fetch(ctx, key) })
			if ctx.Err() != nil {
				break
			}
			before, known := last[key]
			switch {
			case err != nil:
				if known {
					now[key] = before
				}
				if failed[err.Error()] == nil {
					failed[err.Error()] = fmt.Errorf("poll of %s: %w", key, err)
				}
				continue
			case !known || before != value:
				target.Bring(key)
			}
			now[key] = value
		}
		return now, failed
	}}
}

type poll[V comparable] struct {
	interval time.Duration
	isNil    bool
	// round fetches once, and brings to reconcile the objects whose values differ from last. It returns the values for
	// the next round, and errors by reason.
	round func(ctx context.Context, target Target, last map[deploy.Ref]V) (now map[deploy.Ref]V, failed map[string]error)
}

func (p *poll[V]) check() error {
	switch {
	case p.interval <= 0:
		return fmt.Errorf("interval %s: it must be positive", p.interval)
	case p.isNil:
		return errors.New("nil fetch")
	}
	return nil
}

// Run implements External.
func (p *poll[V]) Run(ctx context.Context, target Target) {
	var last map[deploy.Ref]V
	var reported map[string]error
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		now, failed := p.round(ctx, target, last)
		if ctx.Err() != nil {
			return
		}
		for reason, err := range failed {
			if reported[reason] == nil {
				target.Failed(err)
			}
		}
		last, reported = now, failed
		timer.Reset(p.interval)
	}
}

// differing returns the keys whose values in last and now differ, and the keys that only one of the two has.
func differing[V comparable](last, now map[deploy.Ref]V) (keys []deploy.Ref) {
	for key, value := range now {
		if before, ok := last[key]; !ok || before != value {
			keys = append(keys, key)
		}
	}
	for key := range last {
		if _, ok := now[key]; !ok {
			keys = append(keys, key)
		}
	}
	return keys
}
