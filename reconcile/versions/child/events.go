package child

import (
	"context"
	"fmt"
	"sync"

	"github.com/operkit/operkit/dag"
	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/internal/trigger"
	"github.com/operkit/operkit/reconcile/versions/internal/wire"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// when reports whether an event counts.
func (s *server) when(b wire.EventQuery) (bool, error) {
	r, err := s.kind(b.Kind)
	if err != nil {
		return false, err
	}
	sources := r.reconciler.Sources()
	var predicate filter.Predicate
	switch {
	case b.Owned > 0 && b.Owned <= len(sources.Owned):
		predicate = sources.Owned[b.Owned-1].When
	case b.Mapped > 0 && b.Mapped <= len(sources.Mapped):
		predicate = sources.Mapped[b.Mapped-1].When
	case b.Owned == 0 && b.Mapped == 0:
		predicate = sources.When
	}
	return predicate == nil || predicate(eventOf(b)), nil
}

// keys returns which resources an event concerns.
func (s *server) keys(b wire.EventQuery) ([]wire.Ref, error) {
	r, err := s.kind(b.Kind)
	if err != nil {
		return nil, err
	}
	mapped := r.reconciler.Sources().Mapped
	if b.Mapped < 1 || b.Mapped > len(mapped) {
		return nil, fmt.Errorf("mapped source %d of kind %s: there are only %d", b.Mapped, b.Kind.Name, len(mapped))
	}
	return wire.KeysOf(mapped[b.Mapped-1].Keys(eventOf(b))), nil
}

func eventOf(b wire.EventQuery) deploy.Event {
	event := deploy.Event{Type: deploy.EventType(b.Type), New: &unstructured.Unstructured{Object: b.New}}
	if b.Old != nil {
		event.Old = &unstructured.Unstructured{Object: b.Old}
	}
	return event
}

// events sends events about the resource of a session to the manager.
type events struct {
	peer    *wire.Peer
	session string
}

// Record implements event.Sink.
func (e events) Record(recorded event.Event) {
	_ = e.peer.Notify(wire.Event, wire.Recorded{Session: e.session, Type: string(recorded.Type), Reason: recorded.Reason, Note: recorded.Note})
}

// external runs the external sources of a kind until ctx ends.
func (s *server) external(ctx context.Context, k wire.Kind) error {
	r, err := s.kind(k)
	if err != nil {
		return err
	}
	to := &target{ctx: ctx, peer: s.peer, kind: k}
	var running sync.WaitGroup
	for _, external := range r.reconciler.Sources().External {
		running.Go(func() {
			trigger.RunExternal(ctx, external, to, func(value any, stack []byte) {
				to.Failed(fmt.Errorf("it is run again: %w", &dag.PanicError{Value: value, Stack: stack}))
			})
		})
	}
	running.Wait()
	<-ctx.Done()
	return nil
}

// target is a source.Target that sends keys to the manager.
type target struct {
	ctx  context.Context
	peer *wire.Peer
	kind wire.Kind
}

// Bring implements source.Target.
func (t *target) Bring(keys ...deploy.Ref) {
	// An error means that the manager is gone. Then this process ends soon, too.
	_ = t.peer.Notify(wire.Bring, wire.SourceReport{Kind: t.kind, Keys: wire.KeysOf(keys)})
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
	_ = t.peer.Notify(wire.Failed, wire.SourceReport{Kind: t.kind, Text: err.Error()})
}
