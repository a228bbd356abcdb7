package reconcile

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/internal/testlog"
	"github.com/operkit/operkit/reconcile/patching"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a Build may not do, since it would be without effect or wait for itself.
func TestBuildRefuses(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		build func(ctx context.Context, s *Session, c *Component) error
		want  string
	}{
		"to add a component": {func(_ context.Context, s *Session, _ *Component) error { s.Add("more", configMap("a")); return nil },
			"component c: component more is added when the rollout has begun: add it in Setup or Finalize"},
		"to add a component as a type": {func(_ context.Context, s *Session, _ *Component) error { s.Use("more", &built{}); return nil },
			"component c: component more is added when the rollout has begun: add it in Setup or Finalize"},
		"to wait for another one": {func(_ context.Context, s *Session, c *Component) error {
			c.After(s.Component("first"), Ready)
			return nil
		},
			"component c: After of c is called when the rollout has begun: call it in Setup or Finalize"},
		"to disable it": {func(_ context.Context, _ *Session, c *Component) error { c.Disable(); return nil },
			"component c: Disable of c is called when the rollout has begun: call it in Setup or Finalize"},
		"to judge what it builds": {func(ctx context.Context, _ *Session, c *Component) error { return c.Verify(ctx) },
			"component c: build: component c: its objects are used while Build runs: use them in Deploy or Verify"},
		"to deploy what it builds": {func(ctx context.Context, _ *Session, c *Component) error { return c.Apply(ctx) },
			"component c: build: component c: its objects are used while Build runs: use them in Deploy or Verify"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			_, _, err := w.once(w.reconciler(adding(func(s *Session) {
				s.Use("c", &built{row.build}).After(s.Add("first"))
			}), Concurrency(0)))
			assert.EqualError(t, err, row.want)
			assert.Equal(t, "Errored/Errored", w.verdict())
		})
	}
	t.Run("to wait for one that waits for it", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		asking := func(other string) *built {
			return &built{func(ctx context.Context, s *Session, _ *Component) error { return s.Component(other).Verify(ctx) }}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := w.reconciler(adding(func(s *Session) {
			s.Use("a", asking("b"))
			s.Use("b", asking("a"))
		}), Concurrency(0)).Reconcile(ctx, widgetRequest)
		assert.ErrorContains(t, err, "component a: its objects are used while Build runs")
	})
	t.Run("two that wait for each other at once end with the reconcile's time", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		both := make(chan struct{}, 2)
		asking := func(other string) *built {
			return &built{func(ctx context.Context, s *Session, _ *Component) error {
				both <- struct{}{}
				for len(both) < 2 && ctx.Err() == nil {
					time.Sleep(time.Millisecond)
				}
				return s.Component(other).Verify(ctx)
			}}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		_, err := w.reconciler(adding(func(s *Session) {
			s.Use("a", asking("b"))
			s.Use("b", asking("a"))
		}), Concurrency(2)).Reconcile(ctx, widgetRequest)
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

// panicking is a Patcher, and a Patch, that panics.
type panicking struct{ inApply bool }

func TestPanicsOfPatchers(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		patcher patching.Patcher
		want    string
	}{
		"asked for its patches": {panicking{}, "patches: panic: boom (late_test.go)"},
		"asked to patch":        {panicking{inApply: true}, "component c: object configmap/a: patch panicking: panic: boom (late_test.go)"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			_, _, err := w.once(w.reconciler(adding(func(s *Session) { s.Add("c", configMap("a")) }), WithPatches(row.patcher)))
			require.Error(t, err)
			assert.Equal(t, row.want, testlog.WithoutLines(err.Error()))
			assert.Equal(t, row.want, testlog.WithoutLines(w.message()))
		})
	}
}

func TestPanicIsNoWayToWait(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, _, err := w.once(w.reconciler(adding(func(*Session) { panic(request.Precondition("not yet")) })))
	require.Error(t, err)
	assert.Equal(t, "Errored/Errored", w.verdict())
	assert.Equal(t, status.ErrorCluster, request.ClassOf(failure.Guard(func() error { panic(forbidden("get", "pods")) })), "what it was about still counts")
	assert.Equal(t, status.ErrorUnknown, request.ClassOf(failure.Guard(func() error { panic(errors.New("no")) })))
}

func (p panicking) Patches(context.Context, patching.Target) ([]patching.Patch, error) {
	if p.inApply {
		return []patching.Patch{p}, nil
	}
	panic("boom")
}

func (panicking) Name() string { return "panicking" }

func (panicking) Apply(context.Context, string, string, map[string]any) (map[string]any, bool, error) {
	panic("boom")
}

// What is added too late is said by whoever adds it.
func TestAddedWhenRendered(t *testing.T) {
	t.Parallel()
	const want = "object late is added to component c after its rendering: add it in Setup or Build"
	add := func(c *Component) { c.Add("late", configMap("late")) }
	for reason, row := range map[string]struct {
		controller Controller
		want       string
	}{
		"by Deploy":   {adding(func(s *Session) { s.Use("c", &addsLate{deploy: add}) }), "component c: " + want},
		"by Verify":   {adding(func(s *Session) { s.Use("c", &addsLate{verify: add}) }), "component c: " + want},
		"by Disable":  {adding(func(s *Session) { s.Use("c", &addsLate{disable: add}).Disable() }), "component c: " + want},
		"by the hook": {&addsAfter{controller{func(_ context.Context, s *Session) error { s.Add("c", configMap("a")); return nil }}}, want},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			_, _, err := w.once(w.reconciler(row.controller))
			assert.EqualError(t, err, row.want)
			assert.Equal(t, "Errored/Errored", w.verdict())
		})
	}
}

// addsLate is a Builder that adds objects where it shouldn't.
type addsLate struct {
	built
	deploy, verify, disable func(c *Component)
}

func (a *addsLate) Deploy(ctx context.Context, _ *Session, c *Component) error {
	if a.deploy != nil {
		a.deploy(c)
	}
	return c.Apply(ctx)
}

func (a *addsLate) Verify(ctx context.Context, _ *Session, c *Component) error {
	if a.verify != nil {
		a.verify(c)
	}
	return c.Verify(ctx)
}

func (a *addsLate) Disable(ctx context.Context, _ *Session, c *Component) error {
	a.disable(c)
	return c.Remove(ctx)
}

type addsAfter struct{ controller }

func (*addsAfter) AfterDeploy(_ context.Context, s *Session, _ Outcome) error {
	s.Component("c").Add("late", configMap("late"))
	return nil
}

func TestEveryPanicIsLogged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, _, err := w.once(w.reconciler(adding(func(s *Session) {
		for _, name := range []string{"a", "b"} {
			s.Use(name, &built{func(context.Context, *Session, *Component) error { panic("in " + name) }})
		}
	})))
	require.Error(t, err)
	require.Equal(t, "component a: build: panic: in a (late_test.go)\ncomponent b: build: panic: in b (late_test.go)", testlog.WithoutLines(err.Error()))
	assert.Equal(t, 1, w.logs.Count(`msg=panic`+` object="Widget shop/w" reconcile=`)-1, "two stacks")
}

// A component that is taken away needs no patch, and a bad one doesn't keep it.
func TestDisabledComponentsAreNotPatched(t *testing.T) {
	t.Parallel()
	w := newWorld(t, owned(configMap("a"), widgetUID))
	calls := w.calm(w.reconciler(adding(func(s *Session) { s.Add("c", configMap("a")).Disable() }), WithPatches(panicking{inApply: true})))
	assert.Equal(t, []string{"delete ConfigMap shop/a", writeStatus}, calls)
}

func TestManyObjects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.inSetup(func(_ context.Context, s *Session) {
		c := s.Add("c")
		for i := range 5 * fewObjects {
			c.Add(string(rune('a'+i/26))+string(rune('a'+i%26)), configMap("x"))
		}
		assert.Empty(t, c.mistakes)
		assert.Len(t, c.objects, 5*fewObjects)
		c.Add("aa", configMap("x"))
		c.Add("fd", configMap("x"))
		assert.Len(t, c.mistakes, 2, "each name once")
		s.components = nil
	})
}
