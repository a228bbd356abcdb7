package child

import (
	"context"
	"fmt"

	"github.com/operkit/operkit/reconcile/versions/internal/wire"
)

// handle answers one call.
func (s *server) handle(ctx context.Context, method string, body wire.Raw) (any, error) {
	switch method {
	case wire.Hello:
		return decoded(body, s.greet)
	case wire.Setup:
		return decoded(body, func(b wire.Session) (*wire.Described, error) { return s.setup(ctx, b) })
	case wire.Render:
		return decoded(body, func(b wire.Part) (*wire.Objects, error) { return s.render(ctx, b) })
	case wire.Content:
		return decoded(body, s.content)
	case wire.Gate:
		return decoded(body, func(b wire.Part) (bool, error) { return s.gate(ctx, b) })
	case wire.Judge:
		return decoded(body, func(b wire.Part) (any, error) { return s.judge(ctx, b) })
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
