package reconciletest

import (
	"context"
	"fmt"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/internal/trigger"
	"github.com/operkit/operkit/reconcile/source"
)

// runExternal runs the external sources of the kinds that are open, until end. In memory they need the time of a
// bubble.
func (e *events) runExternal() {
	for _, d := range e.driven {
		if d.external || !d.open {
			continue
		}
		d.external = true
		for _, external := range d.rules.Sources().External {
			if _, isReady := external.(source.Started); isReady {
				continue // nothing has to run
			}
			if e.memory != nil && !e.clock.bubble {
				e.t.Logf("external sources of %s don't run: run the test in synctest.Test, or stand in for them by Bring", d.kind.Kind)
				break
			}
			e.external.Go(func() {
				trigger.RunExternal(e.ctx, external, target{e, d}, func(value any, stack []byte) {
					e.t.Logf("an external source of %s panicked: it is run again: %v\n%s", d.kind.Kind, value, stack)
				})
			})
		}
	}
}

// startExternal starts the external sources that have to be ready before the first reconcile.
func (d *driven) startExternal(ctx context.Context, to source.Target) error {
	for len(d.starters) > 0 {
		if err := failure.Guard(func() error { return d.starters[0].Start(ctx, to) }); err != nil {
			return fmt.Errorf("an external source doesn't start: %w", err)
		}
		d.starters = d.starters[1:]
	}
	return nil
}

// target is the source.Target of a kind.
type target struct {
	events *events
	driven *driven
}

// Bring implements source.Target.
func (t target) Bring(keys ...deploy.Ref) {
	t.events.mu.Lock()
	defer t.events.mu.Unlock()
	for _, key := range t.driven.rules.Own(keys...) {
		t.events.brought = append(t.events.brought, brought{t.driven, key, t.events.clock.now()})
	}
	t.events.woken()
}

// Keys implements source.Target.
func (t target) Keys() []deploy.Ref { return t.events.owners.Keys(t.driven.kind) }

// Failed implements source.Target.
func (t target) Failed(err error) {
	t.events.t.Logf("an external source of %s can't be read: %v", t.driven.kind.Kind, err)
}
