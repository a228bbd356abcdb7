package watch

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/stretchr/testify/assert"
)

// force is an edit that asks for a reconcile.
func force(value string) string {
	return fmt.Sprintf(`{"metadata":{"annotations":{"operkit.dev/reconcile-at":%q}}}`, value)
}

func TestForced(t *testing.T) {
	t.Parallel()
	inBubble(t, "whatever the filter says", func(w *world) {
		a := w.create(widget("a"))
		w.declare(source.Sources{When: filter.Never()})
		w.start()
		w.merge(a, force("now"))
		assert.Equal(w.t, []string{"changed,forced"}, w.why())
		w.merge(a, force("again"))
		assert.Equal(w.t, []string{"changed,forced"}, w.why())
		w.merge(a, `{"metadata":{"annotations":{"operkit.dev/reconcile-at":null}}}`)
		assert.Empty(w.t, w.why(), "tidying up asks for nothing")
	})
	inBubble(t, "reconcile mistake 12: it resets the backoff", func(w *world) {
		w.do = inTurn(errors.New("weird"))
		a := w.create(widget("a"))
		w.start(Backoff(time.Hour, 24*time.Hour))
		w.pass(4 * time.Hour)
		w.merge(a, force("now"))
		w.settle()
		w.pass(time.Hour)
		attempts, gaps := w.attempts()
		assert.Equal(w.t, []int{0, 1, 2, 0, 1}, attempts)
		assert.LessOrEqual(w.t, gaps[3], time.Hour, "and begins anew")
	})
	inBubble(t, "it takes up what waits for a change after a permanent error", func(w *world) {
		w.do = inTurn(request.Permanent(errors.New("no such region")), request.Result{})
		a := w.create(widget("a"))
		w.declare(source.Sources{When: filter.Or(filter.Lifecycle(), filter.Generation())})
		w.start()
		w.pass(24 * time.Hour)
		assert.Len(w.t, w.taken(), 1)
		w.merge(a, force("now"))
		assert.Equal(w.t, []string{"changed,forced"}, w.why())
	})
	inBubble(t, "one that is reconciled already is reconciled once more", func(w *world) {
		w.do = func(context.Context, request.Request) (request.Result, error) {
			time.Sleep(time.Minute)
			return request.Result{}, nil
		}
		a := w.create(widget("a"))
		w.start()
		w.merge(a, force("now"))
		w.merge(a, force("and again"))
		w.pass(time.Hour)
		assert.Equal(w.t, []string{"listed", "changed,forced"}, w.why())
	})
	inBubble(t, "the domain can be set", func(w *world) {
		a := w.create(widget("a"))
		w.declare(source.Sources{When: filter.Never()})
		w.start(Domain("oper8.org"))
		w.merge(a, force("now"))
		assert.Empty(w.t, w.why())
		w.merge(a, `{"metadata":{"annotations":{"oper8.org/reconcile-at":"now"}}}`)
		assert.Equal(w.t, []string{"changed,forced"}, w.why())
	})
	inBubble(t, "watch 14, 15: a time that is far ahead, long over or none at all does no harm: it is at once, and once", func(w *world) {
		a := w.create(widget("a"))
		engine := w.start()
		w.taken()
		for _, value := range []string{"9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z", "-292277022399-01-01", "yesterday", "☕"} {
			w.merge(a, force(value))
			assert.Equal(w.t, []string{"changed,forced"}, w.why(), value)
			assert.Zero(w.t, engine.State().Timers, value)
		}
	})
	inBubble(t, "what was asked for while nobody watched is listed like all else", func(w *world) {
		a := widget("a")
		a.SetAnnotations(map[string]string{"operkit.dev/reconcile-at": "now"})
		w.create(a)
		w.start()
		assert.Equal(w.t, []string{"listed"}, w.why())
	})
}

func TestLeft(t *testing.T) {
	t.Parallel()
	inBubble(t, "an object that leaves the view isn't reconciled, and everything that is known of it is dropped", func(w *world) {
		w.do = func(ctx context.Context, req request.Request) (request.Result, error) {
			return request.Result{RequeueAfter: time.Hour}, nil
		}
		a := w.create(widget("a"))
		w.declare(source.Sources{Owned: []source.Owned{{Kind: configMaps}}})
		engine := w.start()
		assert.Len(w.t, w.taken(), 1)
		assert.Equal(w.t, 1, engine.State().Timers)
		w.leave(a)
		w.create(child("c", a))
		w.pass(24 * time.Hour)
		assert.Empty(w.t, w.taken(), "neither now, nor for its timer, nor for its children")
		assert.Zero(w.t, engine.State().Timers)
		assert.Zero(w.t, engine.owners.Len())
		w.emit(deploy.Event{Type: deploy.Added, New: a})
		assert.Equal(w.t, []string{"Widget shop/a"}, w.settle(), "until it comes back")
	})
	inBubble(t, "its backoff too", func(w *world) {
		w.do = inTurn(errors.New("weird"))
		a := w.create(widget("a"))
		engine := w.start(Backoff(time.Hour, time.Hour))
		w.leave(a)
		w.pass(24 * time.Hour)
		assert.Len(w.t, w.taken(), 1)
		assert.Empty(w.t, engine.of(widgets).backoff.counts)
	})
	inBubble(t, "what waits for its turn doesn't get it", func(w *world) {
		w.do = func(context.Context, request.Request) (request.Result, error) {
			time.Sleep(time.Minute)
			return request.Result{}, nil
		}
		w.create(widget("busy"))
		w.start(Workers(1))
		a := w.create(widget("a"))
		w.settle()
		w.leave(a)
		w.pass(time.Hour)
		assert.Empty(w.t, w.taken())
	})
	for reason, answer := range map[string]any{
		"a success": request.Result{RequeueAfter: time.Minute}, "a failure": errors.New("weird"), "a permanent failure": request.Permanent(errors.New("weird")),
	} {
		inBubble(t, "a reconcile that runs ends by itself, and what it asks for isn't scheduled: "+reason, func(w *world) {
			var engine *Engine
			theirs := deploy.Ref{Kind: configMaps, Namespace: "shop", Name: "theirs"}
			ended := false
			w.do = func(ctx context.Context, req request.Request) (request.Result, error) {
				time.Sleep(time.Minute)
				assert.NoError(w.t, ctx.Err())
				assert.NoError(w.t, engine.Follow(ctx, req.Key, theirs))
				ended = true
				err, _ := answer.(error)
				result, _ := answer.(request.Result)
				return result, err
			}
			a := w.create(widget("a"))
			engine = w.engine()
			w.run(engine)
			w.settle()
			w.merge(a, newSpec) // it would have to be once more
			w.settle()
			w.leave(a)
			w.pass(24 * time.Hour)
			assert.True(w.t, ended)
			assert.Len(w.t, w.requests, 1)
			assert.Zero(w.t, engine.followers.Len())
			assert.Empty(w.t, engine.of(widgets).backoff.counts)
			assert.Equal(w.t, State{Workers: engine.options.workers, LastStart: engine.State().LastStart, Events: 3, Reconciles: 1, Kinds: engine.State().Kinds}, engine.State())
		})
	}
	inBubble(t, "children, followed and mapped objects that leave bring nobody", func(w *world) {
		theirs := deploy.Ref{Kind: configMaps, Namespace: "shop", Name: "theirs"}
		w.declare(source.Sources{Owned: []source.Owned{{Kind: configMaps}}, Mapped: []source.Mapped{{Kind: configMaps, Keys: func(deploy.Event) []deploy.Ref {
			return []deploy.Ref{key("a")}
		}}}})
		engine := w.engine()
		w.do = func(ctx context.Context, req request.Request) (request.Result, error) {
			return request.Result{}, engine.Follow(ctx, req.Key, theirs)
		}
		a := w.create(widget("a"))
		w.run(engine)
		w.settle()
		c, followed := w.create(child("c", a)), w.create(child("theirs"))
		w.settle()
		w.leave(c)
		w.leave(followed)
		assert.Empty(w.t, w.settle())
	})
}
