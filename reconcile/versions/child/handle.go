package child

import (
	"context"
	"fmt"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/versions/internal/wire"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// handle answers one call.
func (s *server) handle(ctx context.Context, method string, body wire.Raw) (any, error) {
	switch method {
	case wire.Hello:
		return decoded(body, s.greet)
	case wire.Setup:
		return decoded(body, func(b wire.Session) (*wire.Described, error) { return s.setup(ctx, b) })
	case wire.Render:
		return decoded(body, func(b wire.Part) (*wire.Objects, error) { return s.renderPart(ctx, b) })
	case wire.Content:
		return decoded(body, func(b wire.Part) (map[string]any, error) { return s.content(ctx, b) })
	case wire.Gate:
		return decoded(body, func(b wire.Part) (bool, error) { return s.gate(ctx, b) })
	case wire.Judge:
		return decoded(body, func(b wire.Part) (any, error) { return nil, s.judge(ctx, b) })
	case wire.Hook:
		return decoded(body, func(b wire.Hooked) (wire.HookAnswer, error) { return s.hook(ctx, b) })
	case wire.When:
		return decoded(body, s.when)
	case wire.Keys:
		return decoded(body, s.keys)
	case wire.External:
		return decoded(body, func(b wire.Kind) (any, error) { return nil, s.external(ctx, b) })
	case wire.Release:
		return decoded(body, func(id string) (any, error) { s.sessions.release(id); return nil, nil })
	}
	return nil, fmt.Errorf("%q: there is no such call: the manager is newer than this version", method)
}

// decoded answers a call by what it is about.
func decoded[In, Out any](body wire.Raw, answer func(In) (Out, error)) (any, error) {
	var in In
	if err := wire.Decode(body, &in); err != nil {
		return nil, err
	}
	return answer(in)
}

func (s *server) kind(k wire.Kind) (*ruled, error) {
	found, ok := s.ruled[k.GVK()]
	if !ok {
		return nil, fmt.Errorf("this version has no controller for the kind %s", k.Name)
	}
	return found, nil
}

// when says whether an event counts.
func (s *server) when(b wire.Happened) (bool, error) {
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

// keys says which resources an event concerns.
func (s *server) keys(b wire.Happened) ([]wire.Ref, error) {
	r, err := s.kind(b.Kind)
	if err != nil {
		return nil, err
	}
	mapped := r.reconciler.Sources().Mapped
	if b.Mapped < 1 || b.Mapped > len(mapped) {
		return nil, fmt.Errorf("mapped source %d of kind %s: there are %d", b.Mapped, b.Kind.Name, len(mapped))
	}
	return wire.KeysOf(mapped[b.Mapped-1].Keys(eventOf(b))), nil
}

func eventOf(b wire.Happened) deploy.Event {
	event := deploy.Event{Type: deploy.EventType(b.Type), New: &unstructured.Unstructured{Object: b.New}}
	if b.Old != nil {
		event.Old = &unstructured.Unstructured{Object: b.Old}
	}
	return event
}

// external runs the external sources of a kind until ctx ends.
func (s *server) external(ctx context.Context, k wire.Kind) error {
	r, err := s.kind(k)
	if err != nil {
		return err
	}
	to := &target{ctx: ctx, peer: s.peer, kind: k}
	ended := make(chan error)
	sources := r.reconciler.Sources().External
	for _, source := range sources {
		go func() { ended <- guarded(func() { source.Run(ctx, to) }) }()
	}
	var failed error
	for range sources {
		if err := <-ended; err != nil {
			failed = err
		}
	}
	<-ctx.Done()
	return failed
}

// target brings keys to the manager.
type target struct {
	ctx  context.Context
	peer *wire.Peer
	kind wire.Kind
}

// Bring implements source.Target.
func (t *target) Bring(keys ...request.Key) {
	// Nobody is to be told that the manager is gone: this ends, too.
	_ = t.peer.Notify(wire.Bring, wire.Brought{Kind: t.kind, Keys: wire.KeysOf(keys)})
}

// Keys implements source.Target.
func (t *target) Keys() []request.Key {
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
