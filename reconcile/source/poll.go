package source

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/operkit/operkit/deploy"
)

// Poll calls fetch at once and then each interval after it has returned, and brings the keys whose value came, changed
// or went since it last answered; the first time those are all. A value may be a version, a hash or a time. An error
// leaves what is known as it was, is told once for each reason, and the next interval tries again; a panic is an error.
// Nothing is fetched at the same time as before: a fetch that hangs stops the poll, so have it keep to a time of its own.
func Poll[V comparable](interval time.Duration, fetch func(ctx context.Context) (map[deploy.Ref]V, error)) External {
	return &poll[V]{interval, fetch}
}

type poll[V comparable] struct {
	interval time.Duration
	fetch    func(ctx context.Context) (map[deploy.Ref]V, error)
}

func (p *poll[V]) check() error { return checkPoll(p.interval, p.fetch == nil) }

func checkPoll(interval time.Duration, isNil bool) error {
	switch {
	case interval <= 0:
		return fmt.Errorf("its interval is %s: it must be positive", interval)
	case isNil:
		return errors.New("its fetch is nil")
	}
	return nil
}

// Run implements External.
func (p *poll[V]) Run(ctx context.Context, target Target) {
	var last map[deploy.Ref]V
	said := ""
	every(ctx, p.interval, func() {
		now, err := guarded(func() (map[deploy.Ref]V, error) { return p.fetch(ctx) })
		switch {
		case ctx.Err() != nil:
		case err == nil:
			said = ""
			target.Bring(differing(last, now)...)
			last = maps.Clone(now) // fetch may go on using its map
		case err.Error() != said:
			said = err.Error()
			target.Failed(fmt.Errorf("poll: %w", err))
		}
	})
}

// differing are the keys that have another value in now than in last, or are in one of them only.
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

// every calls f at once, and again each interval after it has returned, until ctx ends.
func every(ctx context.Context, interval time.Duration, f func()) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		if ctx.Err() != nil {
			return
		}
		f()
		timer.Reset(interval)
	}
}

// guarded calls fetch; a panic is its error.
func guarded[T any](fetch func() (T, error)) (result T, err error) {
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("panic: %v", value)
		}
	}()
	return fetch()
}
