package reconcile

import (
	"context"
	"errors"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/testlog"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// upgrading is a controller that is told of upgrades.
type upgrading struct {
	controller
	upgrade func(from, to string) error
	calls   []string
}

func (u *upgrading) Upgrade(_ context.Context, s *Session, from, to string) error {
	u.calls = append(u.calls, from+" to "+to)
	if u.upgrade == nil {
		return nil
	}
	return u.upgrade(from, to)
}

func newUpgrading() *upgrading {
	return &upgrading{controller: controller{func(_ context.Context, s *Session) error {
		s.Add("c", configMap("of-"+s.Version()))
		return nil
	}}}
}

func (w *world) want(version string) {
	w.t.Helper()
	w.merge(widgetRef, `{"spec": {"version": "`+version+`"}}`)
}

func TestUpgrade(t *testing.T) {
	t.Parallel()
	t.Run("it is told of a change of version before anything is done, until the resource is there", func(t *testing.T) {
		t.Parallel()
		w := newWorldWith(t, wanting("1"))
		u := newUpgrading()
		r := w.reconciler(u)
		w.calm(r)
		w.calm(r)
		assert.Empty(t, u.calls, "the first rollout is no upgrade, and nor is what is as it was")
		w.want("2")
		w.refuse = refusing(forbidden("patch", "configmaps"), "apply ConfigMap shop/of-2")
		for range 2 {
			_, _, err := w.once(r)
			require.Error(t, err)
		}
		assert.Equal(t, []string{"1 to 2", "1 to 2"}, u.calls, "it isn't there yet")
		w.refuse = nil
		w.calm(r)
		assert.Equal(t, []string{"1 to 2", "1 to 2", "1 to 2"}, u.calls)
		w.calm(r)
		assert.Len(t, u.calls, 3, "it is there")
		w.want("1")
		w.calm(r)
		assert.Equal(t, "2 to 1", u.calls[3], "back is a way, too")
	})
	for reason, row := range map[string]struct {
		err     error
		verdict string
		fails   bool
	}{
		"a jump that is refused": {request.Configuration("go by 1.5"), "ConfigError/Errored", true},
		"one that is put off":    {request.Precondition("not at night"), "InProgress/PreconditionWait", false},
		"one that fails":         {errors.New("the way is blocked"), "Errored/Errored", true},
	} {
		t.Run(reason+" leaves all as it is", func(t *testing.T) {
			t.Parallel()
			w := newWorldWith(t, wanting("1"))
			u := newUpgrading()
			r := w.reconciler(u)
			w.calm(r)
			u.upgrade = func(string, string) error { return row.err }
			w.want("2")
			calls, _, err := w.once(r)
			assert.Equal(t, []string{writeStatus}, calls, "but for its status")
			if row.fails {
				require.EqualError(t, err, "upgrade from 1 to 2: "+row.err.Error())
			} else {
				require.NoError(t, err)
			}
			assert.Equal(t, row.verdict, w.verdict())
			assert.Equal(t, "upgrade from 1 to 2: "+row.err.Error(), w.message())
			assert.NotNil(t, w.get(configMapRef("of-1")))
			assert.Nil(t, w.get(configMapRef("of-2")))
			u.upgrade = nil
			w.calm(r)
			assert.NotNil(t, w.get(configMapRef("of-2")))
			assert.Nil(t, w.get(configMapRef("of-1")), "pruned")
		})
	}
	t.Run("a panic is an error", func(t *testing.T) {
		t.Parallel()
		w := newWorldWith(t, wanting("1"))
		u := newUpgrading()
		r := w.reconciler(u)
		w.calm(r)
		u.upgrade = func(string, string) error { panic("no") }
		w.want("2")
		_, _, err := w.once(r)
		require.Error(t, err)
		require.Equal(t, "upgrade from 1 to 2: panic: no (upgrade_test.go)", testlog.WithoutLines(err.Error()))
	})
	t.Run("Plan and Graph ask, too: what is refused has no plan", func(t *testing.T) {
		t.Parallel()
		w := newWorldWith(t, wanting("1"))
		u := newUpgrading()
		r := w.reconciler(u)
		w.calm(r)
		w.want("2")
		plan, err := r.Plan(t.Context(), w.widget())
		require.NoError(t, err)
		assert.True(t, plan.Changed())
		u.upgrade = func(string, string) error { return request.Configuration("go by 1.5") }
		_, err = r.Plan(t.Context(), w.widget())
		require.EqualError(t, err, "upgrade from 1 to 2: go by 1.5")
		_, err = r.Graph(t.Context(), w.widget())
		require.EqualError(t, err, "upgrade from 1 to 2: go by 1.5")
		assert.Equal(t, []string{"1 to 2", "1 to 2", "1 to 2"}, u.calls)
	})
	t.Run("a resource that goes isn't upgraded any more", func(t *testing.T) {
		t.Parallel()
		w := newWorldWith(t, wanting("1"))
		u := struct {
			*upgrading
			unfinished
		}{newUpgrading(), unfinished{}}
		r := w.reconciler(u)
		w.calm(r)
		w.want("2")
		w.delete(widgetRef)
		w.calm(r)
		assert.Nil(t, w.get(widgetRef))
		assert.Empty(t, u.calls)
	})
	t.Run("a version that isn't said is none", func(t *testing.T) {
		t.Parallel()
		w := newWorldWith(t, wanting("1"))
		u := newUpgrading()
		r := w.reconciler(u)
		w.calm(r)
		w.merge(widgetRef, `{"spec": {"version": null}}`)
		w.calm(r)
		assert.Empty(t, u.calls)
	})
}

// unfinished has nothing to do.
type unfinished struct{}

func (unfinished) Finalize(context.Context, *Session) error { return nil }

// cleaning is a controller that counts the sessions that have ended.
type cleaning struct {
	controller
	released []*Session
	panics   bool
}

func (c *cleaning) Setup(ctx context.Context, s *Session) error {
	_ = c.Finalize(ctx, s)
	return c.controller.Setup(ctx, s)
}

func (c *cleaning) Finalize(_ context.Context, s *Session) error {
	s.Cleanup(func() { c.released = append(c.released, s) })
	s.Cleanup(func() {
		if c.panics {
			panic("no")
		}
	})
	return nil
}

// However a reconcile ends, what its session keeps is cleaned up once.
func TestCleanup(t *testing.T) {
	t.Parallel()
	var end context.CancelFunc
	for reason, row := range map[string]struct {
		setup   func(ctx context.Context, s *Session) error
		options []Option
		// before happens in a world that is as it should be; do takes the place of a reconcile.
		before func(w *world)
		do     func(w *world, r *Reconciler)
		want   int
	}{
		"all goes well":                {nil, nil, nil, nil, 1},
		"Setup fails":                  {func(context.Context, *Session) error { return errors.New("no") }, nil, nil, nil, 1},
		"Setup waits":                  {func(context.Context, *Session) error { return request.Precondition("no") }, nil, nil, nil, 1},
		"Setup panics":                 {func(context.Context, *Session) error { panic("no") }, nil, nil, nil, 1},
		"a component fails":            {func(_ context.Context, s *Session) error { s.Add("c", nil); return nil }, nil, nil, nil, 1},
		"what comes before Setup does": {nil, []Option{SupportedVersions("1"), StrictVersions()}, nil, nil, 0},
		"it is finalized":              {nil, nil, func(w *world) { w.delete(widgetRef) }, nil, 1},
		"it is gone":                   {nil, nil, func(w *world) { w.merge(widgetRef, `{"metadata": {"finalizers": null}}`); w.delete(widgetRef) }, nil, 0},
		"it rests": {nil, nil, func(w *world) {
			w.merge(widgetRef, `{"metadata": {"annotations": {"operkit.dev/pause-execution": "true"}}}`)
		}, nil, 0},
		"a dry run":                   {nil, []Option{DryRun()}, nil, nil, 1},
		"the status can't be written": {nil, nil, func(w *world) { w.refuse = refusing(forbidden("patch", "widgets"), writeStatus); w.want("2") }, nil, 1},
		"its context ends meanwhile": {func(ctx context.Context, _ *Session) error { end(); return ctx.Err() }, nil, nil, func(w *world, r *Reconciler) {
			var ctx context.Context
			ctx, end = context.WithCancel(w.t.Context())
			_, _ = r.Reconcile(ctx, widgetRequest)
		}, 1},
		"Plan":  {nil, nil, nil, func(w *world, r *Reconciler) { _, _ = r.Plan(w.t.Context(), w.widget()) }, 1},
		"Graph": {nil, nil, nil, func(w *world, r *Reconciler) { _, _ = r.Graph(w.t.Context(), w.widget()) }, 1},
		"Plan of what fails": {func(context.Context, *Session) error { return errors.New("no") }, nil, nil,
			func(w *world, r *Reconciler) { _, _ = r.Plan(w.t.Context(), w.widget()) }, 1},
		"Graph of what fails": {func(context.Context, *Session) error { panic("no") }, nil, nil,
			func(w *world, r *Reconciler) { _, _ = r.Graph(w.t.Context(), w.widget()) }, 1},
		"Plan of another kind": {nil, nil, nil, func(w *world, r *Reconciler) { _, _ = r.Plan(w.t.Context(), configMap("a")) }, 0},
		"Describe, when it is released": {nil, nil, nil, func(w *world, r *Reconciler) {
			d, err := r.Describe(w.t.Context(), w.widget(), Describing{})
			require.NoError(w.t, err)
			d.Release()
		}, 1},
		"Describe of what fails": {func(context.Context, *Session) error { panic("no") }, nil, nil, func(w *world, r *Reconciler) {
			d, err := r.Describe(w.t.Context(), w.widget(), Describing{})
			require.Error(w.t, err)
			d.Release()
		}, 1},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			for _, panics := range []bool{false, true} {
				w := newWorld(t)
				c := &cleaning{controller: controller{func(_ context.Context, s *Session) error { s.Add("c", configMap("a")); return nil }}}
				w.calm(w.reconciler(c))
				require.Len(t, c.released, 1)
				c.released, c.panics = nil, panics
				if row.setup != nil {
					c.setup = row.setup
				}
				if row.before != nil {
					row.before(w)
				}
				r := w.reconciler(c, row.options...)
				if row.do != nil {
					row.do(w, r)
				} else {
					_, _, _ = w.once(r)
				}
				require.Len(t, c.released, row.want)
				if row.want > 0 {
					assert.Equal(t, "w", c.released[0].Name())
					assert.Equal(t, panics, w.logs.Count("panic in a function of Cleanup") > 0, "a panic is told, and is nobody's error")
				}
			}
		})
	}
}

// watchedKinds is a Watcher that only counts.
type watchedKinds struct{ asked []string }

func (w *watchedKinds) Own(_ context.Context, owner, child schema.GroupVersionKind) error {
	w.asked = append(w.asked, owner.Kind+" "+child.Kind)
	if child == deployments {
		return &deploy.KindUnknownError{Kind: child}
	}
	return nil
}

func (*watchedKinds) FollowAll(context.Context, deploy.Ref, schema.GroupVersionKind, string, labels.Selector) error {
	return nil
}

func (*watchedKinds) Follow(context.Context, deploy.Ref, deploy.Ref) error { return nil }

func TestOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var unknown, none error
	own := func(s *Session) {
		none = s.Own(t.Context(), configMaps)
		unknown = s.Own(t.Context(), deployments)
	}
	w.calm(w.reconciler(adding(own)))
	require.NoError(t, none)
	require.NoError(t, unknown, "where nobody watches, nothing is")
	watcher := &watchedKinds{}
	w.calm(w.reconciler(adding(own), WithWatcher(watcher)))
	require.NoError(t, none)
	require.ErrorAs(t, unknown, new(*deploy.KindUnknownError))
	assert.Equal(t, []string{"Widget ConfigMap", "Widget Deployment"}, watcher.asked)
}

// A hook of another version may outlive the reconcile that started it.
func TestCleanupAfterTheEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var ended *Session
	w.calm(w.reconciler(&controller{func(_ context.Context, s *Session) error { ended = s; return nil }}))
	called := 0
	ended.Cleanup(func() { called++ })
	assert.Equal(t, 1, called)
	ended.Cleanup(func() { panic("no") })
	assert.Equal(t, 1, w.logs.Count("panic in a function of Cleanup"))
	assert.Equal(t, 1, called, "it isn't called again")
}
