package watch

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// forgetful is a reconciler that is told of what is gone.
type forgetful struct {
	declaring
	forgotten []string
}

func (f *forgetful) Forget(key deploy.Ref) { f.forgotten = append(f.forgotten, key.String()) }

func TestRelease(t *testing.T) {
	t.Parallel()
	inBubble(t, "kinds 3: a kind that comes while the engine runs is reconciled, and one that goes leaves nothing", func(w *world) {
		w.declare(source.Sources{Owned: []source.Owned{{Kind: configMaps}}})
		engine := w.start()
		baseline := engine.State()
		keys, ended := make(chan deploy.Ref), false
		stay := source.Func(func(ctx context.Context, target source.Target) {
			source.Channel(keys).Run(ctx, target)
			ended = true
		})
		region := &forgetful{declaring: declaring{&reconciler{}, source.Sources{
			Owned: []source.Owned{{Kind: configMaps}}, Mapped: []source.Mapped{{Kind: secrets, Keys: func(deploy.Event) []deploy.Ref {
				return []deploy.Ref{regionKey("north")}
			}}}, Indexed: []source.Indexed{{Kind: secrets, Index: func(deploy.Event) {}}}, External: []source.External{stay},
		}}}
		region.do = func(ctx context.Context, req request.Request) (request.Result, error) {
			if err := engine.Follow(ctx, req.Key, deploy.Ref{Kind: secrets, Namespace: "shop", Name: "s"}); err != nil {
				return request.Result{}, err
			}
			if req.Key.Name == "south" {
				return request.Result{}, errors.New("no")
			}
			return request.Result{RequeueAfter: time.Hour}, nil
		}
		north := w.create(object(regions, "", "north"))
		w.create(object(regions, "", "south"))
		for round := range 3 {
			require.NoError(w.t, engine.Control(regions, region, Workers(1)), round)
			synctest.Wait()
			assert.Contains(w.t, region.taken(), "Region north")
			w.create(child("c", north))
			assert.Equal(w.t, []string{"Region north"}, region.settled())
			keys <- regionKey("north")
			assert.Equal(w.t, []string{"Region north"}, region.settled())

			require.NoError(w.t, engine.Release(w.t.Context(), regions))
			assert.True(w.t, ended, "its sources have ended")
			assert.ElementsMatch(w.t, []string{"Region north", "Region south"}, region.forgotten)
			now := engine.State()
			assert.Equal(w.t, []int{0, 0, 0}, []int{now.Timers, now.Waiting, now.Failing})
			assert.Equal(w.t, []int{0, 0}, []int{engine.owners.Len(), engine.followers.Len()})
			assert.ElementsMatch(w.t, append(baseline.Kinds, KindState{Kind: secrets}), now.Kinds, "a kind that was followed is watched on")
			w.delete(w.create(child("c", north)))
			w.create(object(regions, "", "north"))
			w.pass(2 * time.Hour)
			assert.Empty(w.t, region.taken(), "nobody reconciles it any more")
			ended, region.forgotten = false, nil
		}
		w.create(widget("a"))
		assert.Equal(w.t, []string{"Widget shop/a"}, w.settle(), "the others go on")
		assert.Equal(w.t, 3, w.logs.Count(`msg="not watching any more" kind=Region`))
	})
	inBubble(t, "kinds 4: a running reconcile is cancelled, and waited for", func(w *world) {
		w.create(widget("a"))
		w.create(widget("b"))
		causes, stay := make(chan error, 1), make(chan struct{})
		w.do = func(ctx context.Context, _ request.Request) (request.Result, error) {
			<-ctx.Done()
			causes <- context.Cause(ctx)
			<-stay
			return request.Result{RequeueAfter: time.Second}, ctx.Err()
		}
		engine := w.start(Workers(1))
		hurry, cancel := context.WithTimeout(w.t.Context(), time.Second)
		defer cancel()
		assert.EqualError(w.t, engine.Release(hurry, widgets), "release Widget: it hasn't ended yet: context deadline exceeded")
		assert.EqualError(w.t, <-causes, "the kind is no longer reconciled: context canceled")
		assert.EqualError(w.t, engine.Control(widgets, w.reconciler), "example.dev/v1, Kind=Widget: has a reconciler already", "it still has")
		close(stay)
		require.NoError(w.t, engine.Release(w.t.Context(), widgets), "the next call goes on")
		assert.Len(w.t, w.settle(), 1, "and nothing else begins")
		assert.Empty(w.t, engine.State().Kinds)
		assert.Zero(w.t, w.logs.Count("level=WARN")+w.logs.Count("level=ERROR"), "that is no failure")
		w.do = nil
		require.NoError(w.t, engine.Control(widgets, w.reconciler))
		assert.Equal(w.t, []string{"Widget shop/a", "Widget shop/b"}, w.settle())
	})
	inBubble(t, "what can't be released says so, and what needn't be is none", func(w *world) {
		engine := w.engine()
		assert.EqualError(w.t, engine.Release(w.t.Context(), widgets), "release Widget: the engine doesn't run yet")
		w.run(engine)
		synctest.Wait()
		require.NoError(w.t, engine.Release(w.t.Context(), regions))
		require.NoError(w.t, w.stop())
		assert.EqualError(w.t, engine.Release(w.t.Context(), widgets), "release Widget: the engine has stopped")
		assert.EqualError(w.t, engine.Control(regions, w.reconciler), "Region: the engine has stopped")
	})
	inBubble(t, "several callers at once", func(w *world) {
		w.create(widget("a"))
		engine := w.start()
		ended := make(chan error)
		for range 3 {
			go func() { ended <- engine.Release(context.Background(), widgets) }()
		}
		for range 3 {
			require.NoError(w.t, <-ended)
		}
	})
}

func TestReleaseAfterFollowing(t *testing.T) {
	t.Parallel()
	inBubble(t, "kinds 3: a kind that couldn't be followed leaves nothing, either", func(w *world) {
		w.unable(configMaps, &deploy.KindUnknownError{Kind: configMaps}, nil)
		engine := w.engine()
		w.do = func(ctx context.Context, req request.Request) (request.Result, error) {
			return request.Result{}, engine.Follow(ctx, req.Key, deploy.Ref{Kind: configMaps, Namespace: "shop", Name: "c"})
		}
		w.create(widget("a"))
		w.run(engine)
		synctest.Wait()
		assert.Equal(w.t, []KindState{{Kind: widgets}}, engine.State().Kinds, "the reconcile has the error")
		assert.Equal(w.t, 1, engine.State().Failing)
		require.NoError(w.t, engine.Release(w.t.Context(), widgets))
		assert.Empty(w.t, engine.State().Kinds)
	})
}

// settled is what was reconciled when nothing is left to do.
func (r *reconciler) settled() []string {
	synctest.Wait()
	return r.taken()
}
