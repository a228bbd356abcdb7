package child

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/operkit/operkit/dag"
	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/trigger"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/operkit/operkit/reconcile/versions/internal/wire"
)

// external runs the external sources of a kind until ctx ends.
func (s *server) external(ctx context.Context, k wire.Kind) error {
	r, err := s.kind(k)
	if err != nil {
		return err
	}
	to := &target{ctx: ctx, peer: s.peer, kind: k}
	var running sync.WaitGroup
	for _, external := range r.reconciler.Sources().External {
		running.Go(func() { to.run(external) })
	}
	running.Wait()
	<-ctx.Done()
	return nil
}

// target brings keys to the manager.
type target struct {
	ctx  context.Context
	peer *wire.Peer
	kind wire.Kind
}

// run runs a source. One that panics is run again, later each time.
func (t *target) run(external source.External) {
	for failures := 0; ; failures++ {
		err := guarded(func() { external.Run(t.ctx, t) })
		if err == nil || t.ctx.Err() != nil {
			return
		}
		t.Failed(fmt.Errorf("it is run again: %w", err))
		timer := time.NewTimer(trigger.Delay(trigger.FirstRetry, trigger.LongestRetry, failures))
		select {
		case <-t.ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
	}
}

// guarded calls what may panic.
func guarded(do func()) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &dag.PanicError{Value: value, Stack: debug.Stack()}
		}
	}()
	do()
	return nil
}

// Bring implements source.Target.
func (t *target) Bring(keys ...deploy.Ref) {
	// Nobody is to be told that the manager is gone: this ends, too.
	_ = t.peer.Notify(wire.Bring, wire.Brought{Kind: t.kind, Keys: wire.KeysOf(keys)})
}

// Keys implements source.Target.
func (t *target) Keys() []deploy.Ref {
	var refs []wire.Ref
	if err := t.peer.Call(t.ctx, wire.Known, t.kind, &refs); err != nil {
		return nil
	}
	return wire.KeysIn(refs)
}

// Failed implements source.Target.
func (t *target) Failed(err error) {
	_ = t.peer.Notify(wire.Failed, wire.Brought{Kind: t.kind, Text: err.Error()})
}
