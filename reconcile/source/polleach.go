package source

import (
	"context"
	"fmt"
	"time"

	"github.com/operkit/operkit/deploy"
)

// PollEach calls fetch for each known object of the kind, one after the other, at once and then each interval after the
// last has been asked for, and brings those whose value came or changed since it was last fetched. What else Poll says
// holds for each object. Use it for what has to be asked for one by one; of many objects that takes its time, and Poll
// asks once.
func PollEach[V comparable](interval time.Duration, fetch func(ctx context.Context, key deploy.Ref) (V, error)) External {
	return &pollEach[V]{interval, fetch}
}

type pollEach[V comparable] struct {
	interval time.Duration
	fetch    func(ctx context.Context, key deploy.Ref) (V, error)
}

func (p *pollEach[V]) check() error { return checkPoll(p.interval, p.fetch == nil) }

// Run implements External.
func (p *pollEach[V]) Run(ctx context.Context, target Target) {
	values, said := map[deploy.Ref]V{}, map[string]bool{}
	every(ctx, p.interval, func() { values, said = p.round(ctx, target, values, said) })
}

// round asks for each object once. It returns what is known of those that there are, and the reasons that were told.
func (p *pollEach[V]) round(ctx context.Context, target Target, last map[deploy.Ref]V, said map[string]bool) (map[deploy.Ref]V, map[string]bool) {
	values, reasons := map[deploy.Ref]V{}, map[string]bool{}
	for _, key := range target.Keys() {
		value, err := guarded(func() (V, error) { return p.fetch(ctx, key) })
		if ctx.Err() != nil {
			return last, said
		}
		before, known := last[key]
		if err != nil {
			if known {
				values[key] = before
			}
			if reason := err.Error(); !reasons[reason] {
				reasons[reason] = true
				if !said[reason] {
					target.Failed(fmt.Errorf("poll of %s: %w", key, err))
				}
			}
			continue
		}
		values[key] = value
		if !known || before != value {
			target.Bring(key)
		}
	}
	return values, reasons
}
