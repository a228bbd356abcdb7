package reconcile

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	manager := must(deploy.NewManager(newWorld(t)))
	for _, row := range []struct {
		reason  string
		c       Controller
		manager *deploy.Manager
		options []Option
		want    string
	}{
		{"no controller", nil, manager, nil, "nil controller"},
		{"reconcile 20: no kind", &kinded{}, manager, nil, `controller *reconcile.kinded: its kind "/, Kind=" needs a version and a kind`},
		{"reconcile 20: no version", &kinded{kind: schema.GroupVersionKind{Group: "example.dev", Kind: "Widget"}}, manager, nil,
			`controller *reconcile.kinded: its kind "example.dev/, Kind=Widget" needs a version and a kind`},
		{"no manager", &controller{}, nil, nil, "controller *reconcile.controller: nil manager"},
		{"no logger", &controller{}, manager, []Option{Logger(nil)}, "nil logger"},
		{"no clock", &controller{}, manager, []Option{Clock(nil)}, "nil clock"},
		{"no observer", &controller{}, manager, []Option{nil, ObserveComponents(nil)}, "observe: nil function"},
		{"an unknown part of the status", &controller{}, manager, []Option{Status("all")}, `status: unknown part "all"`},
		{"a negative concurrency", &controller{}, manager, []Option{Concurrency(-1)}, "concurrency: -1: it can't be negative"},
		{"a negative recheck", &controller{}, manager, []Option{Recheck(-time.Second)}, "recheck: -1s: it can't be negative"},
		{"a negative period", &controller{}, manager, []Option{Period(-time.Second)}, "period: -1s: it can't be negative"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			r, err := New(row.c, row.manager, row.options...)
			assert.Nil(t, r)
			assert.EqualError(t, err, row.want)
		})
	}
}

// everything is a controller that uses most of what there is.
func everything() *finalizing {
	return &finalizing{controller: controller{func(ctx context.Context, s *Session) error {
		var typed typedWidget
		if err := s.Into(&typed); err != nil {
			return err
		}
		password, err := s.Generated(ctx, s.ScopedName("db"), "password", func() (string, error) { return "secret", nil })
		if err != nil {
			return err
		}
		db := s.Add("db", map[string]any{
			"apiVersion": "v1", "kind": "Secret", "metadata": map[string]string{"name": s.ScopedName("db")},
			"stringData": map[string]string{"password": password},
		}, deployment("db"))
		s.Add("web", deployment("web"), configMap("web")).After(db, Ready)
		s.Add("old", configMap("old")).Disable()
		return nil
	}}}
}

func TestSettledResource(t *testing.T) {
	t.Parallel()
	w := newWorld(t, owned(configMap("old"), widgetUID))
	watcher := &ownRecorder{}
	r := w.reconciler(everything(), WithWatcher(watcher))
	for _, name := range []string{"db", "web"} {
		w.calm(r)
		w.makeReady(name)
	}
	w.calm(r)
	require.Equal(t, "Stable/Stable", w.verdict())
	before := w.widget().GetResourceVersion()
	for range 100 {
		calls, result, err := w.once(r)
		require.NoError(t, err)
		require.Empty(t, calls, "reconcile 53: a settled resource costs no call")
		require.Equal(t, request.Result{RequeueAfter: 10 * time.Minute}, result)
	}
	assert.Empty(t, w.calm(w.reconciler(everything(), WithWatcher(watcher))), "nor after a restart of the operator")
	assert.Equal(t, before, w.widget().GetResourceVersion())
	assert.Equal(t, 1, strings.Count(w.logs.String(), "\n"), "log 1: and nothing is said about it but that it was rolled out: %s", w.logs)
	assert.Len(t, w.ended(), 1)
}

func TestGoneResource(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.delete(widgetRef)
	calls, result, err := w.once(w.reconciler(adding(func(*Session) { assert.Fail(t, "it is set up") })))
	require.NoError(t, err)
	assert.Empty(t, calls)
	assert.Equal(t, request.Result{}, result, "watch mistake 2: and never looked at again")
}

func TestUnavailableCluster(t *testing.T) {
	t.Parallel()
	unavailable := &deploy.UnavailableError{Err: errors.New("connection refused")}
	t.Run("the resource can't be read", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.unreadable = func(deploy.Ref) error { return unavailable }
		calls, _, err := w.once(w.reconciler(&controller{}))
		assert.Equal(t, unavailable, err)
		assert.Empty(t, calls)
	})
	t.Run("its objects can't be written: the status says so, if it can be", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.refuse = refusing(unavailable, "apply ConfigMap shop/a")
		calls, _, err := w.once(w.reconciler(adding(func(s *Session) { s.Add("a", configMap("a")); s.Add("b", configMap("b")) }), Concurrency(0)))
		assert.EqualError(t, err, "component a: "+unavailable.Error())
		assert.Equal(t, []string{"apply ConfigMap shop/a", "apply ConfigMap shop/b", writeStatus}, calls)
		assert.Equal(t, "Initializing/ClusterError", w.verdict(), "it may be one webhook that fails")
	})
	t.Run("the server says when to come back", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.refuse = refusing(&deploy.UnavailableError{RetryAfter: 7 * time.Second, Err: errors.New("too many requests")}, "apply ConfigMap shop/a")
		_, _, err := w.once(w.reconciler(adding(func(s *Session) { s.Add("a", configMap("a")) })))
		after, ok := request.RetryTime(err)
		assert.True(t, ok)
		assert.Equal(t, 7*time.Second, after)
	})
	t.Run("the status can't be written: that is tried again as any failure, and said by the engine", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.refuse = refusing(unavailable, writeStatus)
		calls, _, err := w.once(w.reconciler(adding(func(s *Session) { s.Add("a", configMap("a")) })))
		require.ErrorIs(t, err, unavailable)
		assert.ErrorContains(t, err, "status not written: ")
		assert.Contains(t, calls, "apply ConfigMap shop/a", "reconcile 53: the work itself is done")
		assert.Zero(t, w.logs.Count("status not written"))
		w.refuse = nil
		calls, _, err = w.once(w.reconciler(adding(func(s *Session) { s.Add("a", configMap("a")) })))
		require.NoError(t, err)
		assert.Equal(t, []string{writeStatus}, calls)
	})
}

// A kind that is gone has taken its objects with it: that is no failure to try again for.
func TestKindThatIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.reconciler(adding(func(s *Session) { s.Add("a", configMap("a")) }))
	w.calm(r)
	w.serves(widgets)
	result, err := r.Reconcile(t.Context(), widgetRequest)
	require.NoError(t, err)
	assert.Zero(t, result)
}

func TestInterruptedReconcile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	r := w.reconciler(adding(func(s *Session) {
		s.Add("a", configMap("a")).After(s.Add("b", configMap("b")))
		cancel(errors.New("time is up"))
	}))
	_, err := r.Reconcile(ctx, widgetRequest)
	assert.ErrorContains(t, err, "time is up")
	assert.Empty(t, w.made(), "nothing is written any more")
}

func TestConflictIsQuiet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.refuse = refusing(&deploy.StaleError{Ref: configMapRef("a"), Err: errors.New("changed")}, "apply ConfigMap shop/a")
	calls, result, err := w.once(w.reconciler(adding(func(s *Session) { s.Add("a", configMap("a")) })))
	assertQuiet(t, err)
	assert.Equal(t, []string{"apply ConfigMap shop/a"}, calls)
	assert.Equal(t, request.Result{}, result)
	assert.Empty(t, w.logs.String())
}

// assertQuiet checks that somebody else having been quicker is looked at again, at once and without noise.
func assertQuiet(t *testing.T, err error) {
	t.Helper()
	assert.True(t, request.Resolve(err).Quiet, "mistake 23: somebody else was quicker: %v", err)
	after, ok := request.RetryTime(err)
	assert.True(t, ok)
	assert.Equal(t, 50*time.Millisecond, after)
}

func TestConflictThatDoesNotPass(t *testing.T) {
	t.Parallel()
	stale := &deploy.StaleError{Ref: configMapRef("a"), Err: errors.New("changed")}
	t.Run("is said when it has come back several times", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.refuse = refusing(stale, "apply ConfigMap shop/a")
		r := w.reconciler(adding(func(s *Session) { s.Add("a", configMap("a")) }))
		_, err := r.Reconcile(t.Context(), request.Request{Key: widgetRequest.Key, Attempt: 3})
		require.ErrorIs(t, err, stale)
		assert.False(t, request.Resolve(err).Quiet)
		assert.Equal(t, "Initializing/ClusterError", w.verdict())
	})
	t.Run("doesn't hide another component's error", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.refuse = func(call string) error {
			return map[string]error{"apply ConfigMap shop/a": stale, "apply ConfigMap shop/b": forbidden("patch", "configmaps")}[call]
		}
		r := w.reconciler(adding(func(s *Session) { s.Add("a", configMap("a")); s.Add("b", configMap("b")) }))
		_, _, err := w.once(r)
		assert.False(t, request.Resolve(err).Quiet)
		assert.ErrorContains(t, err, "component b: configmaps: patch in namespace shop was refused")
	})
}

func TestReconcileThatTookTooLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		cause := errors.New("the reconcile took longer than 1s")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, cause)
		defer cancel()
		r := w.reconciler(&controller{setup: func(ctx context.Context, _ *Session) error {
			<-ctx.Done()
			return ctx.Err()
		}})
		_, err := r.Reconcile(ctx, widgetRequest)
		require.ErrorIs(t, err, cause)
		assert.Equal(t, []string{writeStatus}, w.made(), "it has the last word all the same")
		assert.Equal(t, "Errored/Errored", w.verdict())
	})
}

func TestRetryTimes(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		setup  error
		ready  bool
		want   time.Duration
		fails  bool
	}{
		{"reconcile 45: complete", nil, true, time.Hour, false},
		{"reconcile 23, 33: incomplete", nil, false, 20 * time.Second, false},
		{"a precondition", request.Precondition("wait"), true, 20 * time.Second, false},
		{"a precondition that knows better", request.RetryAfter(5*time.Second, request.Precondition("wait")), true, 5 * time.Second, false},
		{"mistake 12: a failure is left to the engine's backoff", errors.New("weird"), true, 0, true},
		{"a failure that knows better too", request.RetryAfter(5*time.Second, errors.New("weird")), true, 0, true},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			r := w.reconciler(&controller{func(_ context.Context, s *Session) error {
				s.Add("d", deployment("d"))
				return row.setup
			}}, Recheck(20*time.Second), Period(time.Hour))
			_, result, err := w.once(r)
			if row.setup == nil && row.ready {
				w.makeReady("d")
				_, result, err = w.once(r)
			}
			assert.Equal(t, row.fails, err != nil)
			if after, ok := request.RetryTime(row.setup); ok && row.fails {
				passed, _ := request.RetryTime(err)
				assert.Equal(t, after, passed, "the mark goes through")
			}
			assert.Equal(t, request.Result{RequeueAfter: row.want}, result)
		})
	}
}

func TestObserve(t *testing.T) {
	t.Parallel()
	w := newWorld(t, owned(configMap("b"), widgetUID))
	seen := map[string]deploy.Results{}
	w.calm(w.reconciler(adding(func(s *Session) {
		s.Add("a", configMap("a"))
		s.Add("b", configMap("b")).Disable()
	}), Concurrency(0), ObserveComponents(func(c *Component, results deploy.Results) { seen[c.Name()] = results })))
	require.Len(t, seen, 2)
	assert.Equal(t, deploy.Created, seen["a"][0].Action)
	assert.Equal(t, deploy.Removed, seen["b"][0].Action)
}

func TestDefaultLogger(t *testing.T) {
	t.Parallel()
	r, err := New(&controller{}, must(deploy.NewManager(newWorld(t))))
	require.NoError(t, err)
	assert.Same(t, slog.Default(), r.options.logger)
	assert.Equal(t, widgets, r.Kind())
}
