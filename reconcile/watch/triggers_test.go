package watch

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWhyItIsReconciled(t *testing.T) {
	t.Parallel()
	inBubble(t, "each request says what has happened since the last one", func(w *world) {
		theirs := deploy.Ref{Kind: configMaps, Namespace: "shop", Name: "theirs"}
		engine := w.engine()
		var result request.Result
		var fails error
		w.do = func(ctx context.Context, req request.Request) (request.Result, error) {
			require.NoError(w.t, engine.Follow(ctx, req.Key, theirs))
			return result, fails
		}
		why := w.why
		a := w.create(widget("a"))
		w.run(engine)
		assert.Equal(w.t, []string{"listed"}, why())
		require.NoError(w.t, engine.Own(w.t.Context(), widgets, configMaps))
		why()
		w.create(widget("b"))
		assert.Equal(w.t, []string{"changed"}, why(), "made while it is watched")
		c := w.create(child("c", a))
		assert.Equal(w.t, []string{"child"}, why())
		w.create(child("theirs"))
		assert.Equal(w.t, []string{"followed", "followed"}, why())

		result.RequeueAfter = time.Minute
		w.merge(a, `{"spec":{"size":2}}`)
		assert.Equal(w.t, []string{"changed"}, why())
		result = request.Result{}
		w.pass(time.Minute)
		assert.Equal(w.t, []string{"periodic"}, why())
		fails = errors.New("no")
		w.merge(a, `{"spec":{"size":3}}`)
		assert.Equal(w.t, []string{"changed"}, why())
		fails = nil
		w.pass(time.Minute)
		assert.Equal(w.t, []string{"retry"}, why())

		w.merge(a, `{"metadata":{"finalizers":["example.dev/hold"]}}`)
		why()
		w.delete(a)
		assert.Equal(w.t, []string{"deleting"}, why())
		w.merge(c, `{"data":{"k":"v"}}`)
		w.merge(a, `{"metadata":{"finalizers":null}}`)
		all := why()
		assert.Contains(w.t, all[len(all)-1], "deleted")
	})
	inBubble(t, "watch 13: a result's time replaces an earlier one's", func(w *world) {
		times := []time.Duration{time.Minute, time.Hour, 0}
		n := 0
		w.do = func(context.Context, request.Request) (request.Result, error) {
			defer func() { n++ }()
			return request.Result{RequeueAfter: times[min(n, 2)]}, nil
		}
		a := w.create(widget("a"))
		w.start()
		w.merge(a, `{"spec":{"size":2}}`)
		assert.Len(w.t, w.settle(), 2)
		w.pass(30 * time.Minute)
		assert.Empty(w.t, w.settle(), "not after the minute")
		w.pass(31 * time.Minute)
		assert.Len(w.t, w.settle(), 1)
		w.pass(10 * time.Hour)
		assert.Empty(w.t, w.settle(), "none at all")
	})
}
