package child

import (
	"context"
	"errors"
	"fmt"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/versions/internal/wire"
)

// hooks are the hooks that a controller may have, and how they are called.
var hooks = []struct {
	name string
	has  func(c reconcile.Controller) bool
	call func(ctx context.Context, c reconcile.Controller, s *reconcile.Session, b wire.HookCall) (wire.HookAnswer, error)
}{
	{wire.AfterDeploy, is[reconcile.AfterDeployer], simple(func(ctx context.Context, c reconcile.AfterDeployer, s *reconcile.Session, b wire.HookCall) error {
		return c.AfterDeploy(ctx, s, b.Outcome.Outcome())
	})},
	{wire.AfterVerify, is[reconcile.AfterVerifier], simple(func(ctx context.Context, c reconcile.AfterVerifier, s *reconcile.Session, b wire.HookCall) error {
		return c.AfterVerify(ctx, s, b.Outcome.Outcome())
	})},
	{wire.AfterIncomplete, is[reconcile.AfterIncompleter], simple(func(ctx context.Context, c reconcile.AfterIncompleter, s *reconcile.Session, b wire.HookCall) error {
		return c.AfterIncomplete(ctx, s, b.Outcome.Outcome())
	})},
	{wire.Exhausted, is[reconcile.Exhauster], simple(func(ctx context.Context, c reconcile.Exhauster, s *reconcile.Session, b wire.HookCall) error {
		return c.Exhausted(ctx, s, b.Given.Err())
	})},
	{wire.Requeue, is[reconcile.Requeuer], func(ctx context.Context, c reconcile.Controller, s *reconcile.Session, b wire.HookCall) (wire.HookAnswer, error) {
		requeuer, ok := c.(reconcile.Requeuer)
		if !ok {
			return wire.HookAnswer{}, errNoHook
		}
		after, err := requeuer.Requeue(ctx, s, b.Outcome.Outcome())
		return wire.HookAnswer{After: int64(after)}, err
	}},
}

var errNoHook = errors.New("the controller has no such hook")

func is[H any](c reconcile.Controller) bool { _, ok := c.(H); return ok }

func simple[H any](do func(ctx context.Context, c H, s *reconcile.Session, b wire.HookCall) error,
) func(ctx context.Context, c reconcile.Controller, s *reconcile.Session, b wire.HookCall) (wire.HookAnswer, error) {
	return func(ctx context.Context, c reconcile.Controller, s *reconcile.Session, b wire.HookCall) (wire.HookAnswer, error) {
		hook, ok := c.(H)
		if !ok {
			return wire.HookAnswer{}, errNoHook
		}
		return wire.HookAnswer{}, do(ctx, hook, s, b)
	}
}

// hooksOf returns the names of the hooks that a controller has, including Finalize.
func hooksOf(c reconcile.Controller) (names []string) {
	if is[reconcile.Finalizer](c) {
		names = append(names, wire.Finalize)
	}
	for _, hook := range hooks {
		if hook.has(c) {
			names = append(names, hook.name)
		}
	}
	return names
}

// hook calls a hook.
func (s *server) hook(ctx context.Context, b wire.HookCall) (answer wire.HookAnswer, err error) {
	one, err := s.sessions.of(b.Session)
	if err != nil {
		return answer, err
	}
	if b.Hook == wire.Finalize {
		return s.finalize(ctx, b.Session, one)
	}
	for _, hook := range hooks {
		if hook.name != b.Hook {
			continue
		}
		answer, err = hook.call(one.Context(withSession(ctx, b.Session)), one.controller, one.Session(), b)
		return answer, one.Err(err)
	}
	return answer, fmt.Errorf("hook %s: unknown name", b.Hook)
}
