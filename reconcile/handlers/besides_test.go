package handlers_test

import (
	"context"
	"errors"
	"time"

	"github.com/operkit/operkit/reconcile/handlers"
)

// handlers returns one handler for each cause, and those that write beside them. No two write at the same time, so that
// their writes have the same order in each life.
func (l *besides) handlers(opts []handlers.KindOption) *handlers.Handlers[Claim] {
	h := handlers.New[Claim](claims, opts...)
	h.On(handlers.Create, "make", func(_ context.Context, r *handlers.Request[Claim]) error {
		r.Update(func(c *Claim) { c.Status.Volume = c.Name })
		return l.succeeds("make")
	})
	for _, one := range []struct {
		id       string
		register func(f handlers.Func[Claim])
	}{
		{"grow", func(f handlers.Func[Claim]) { h.Field("spec.size", "grow", f) }},
		{"detach", func(f handlers.Func[Claim]) { h.On(handlers.Delete, "detach", f) }},
	} {
		one.register(func(_ context.Context, r *handlers.Request[Claim]) error {
			if r.Attempt == 1 {
				return errors.New("not yet")
			}
			return l.succeeds(one.id)
		})
	}
	h.Daemon("measure", func(ctx context.Context, r *handlers.Request[Claim]) error {
		for r.Sleep(ctx, 7*time.Second) {
			if err := errors.Join(r.Result(r.Latest().Spec.Size), r.Flush(ctx)); err != nil {
				return err
			}
		}
		time.Sleep(time.Second / 2) // after the pass that has stopped it
		return r.Result(0)
	})
	h.Daemon("probe", func(ctx context.Context, r *handlers.Request[Claim]) error {
		r.Sleep(ctx, time.Second/2) // after the pass that has started it
		if r.Attempt == 1 {
			return errors.New("no answer")
		}
		return r.Result("answers")
	}, handlers.Reports("Probed"))
	size := func(_ context.Context, r *handlers.Request[Claim]) error {
		return r.Result(r.Object.Spec.Size)
	}
	h.Timer("tick", time.Minute, size)
	h.Seen("look", size)
	h.OnClusterEvent("hear", func(_ context.Context, r *handlers.Request[Claim]) error {
		return r.Result(r.Reported.Reason)
	})
	return h
}
