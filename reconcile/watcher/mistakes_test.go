package watcher_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/reconcile/watcher"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func newEnv(t *testing.T) watch.Env {
	memory, err := dryrun.New(dryrun.AnyKind())
	require.NoError(t, err)
	manager, err := deploy.NewManager(memory)
	require.NoError(t, err)
	return watch.Env{Manager: manager, Logger: slog.New(slog.DiscardHandler), Now: time.Now}
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	ok := func(context.Context, watcher.Request[Bucket]) (watcher.Result, error) { return watcher.Result{}, nil }
	opinionated := func(opts ...watcher.Option) watcher.Option {
		return watcher.Add("w", watcher.Opinionate(watcher.Funcs[Bucket]{}, opts...))
	}
	var nobody *audit
	for _, row := range []struct {
		reason string
		opts   []watcher.Option
		want   string
	}{
		{"a name", []watcher.Option{watcher.Add("not valid!", audit{})}, `watcher "not valid!": the name isn't valid`},
		{"a nil watcher", []watcher.Option{watcher.Add[Bucket]("w", nil)}, `watcher "w": nil watcher`},
		{"a nil pointer", []watcher.Option{watcher.Add[Bucket]("w", nobody)}, `watcher "w": nil watcher`},
		{"a nil function", []watcher.Option{watcher.AddReconciler[Bucket]("w", nil)}, `watcher "w": nil function`},
		{"two of a name", []watcher.Option{watcher.Add("w", audit{}), watcher.AddReconciler("w", ok)}, `watcher "w": there is one already`},
		{"another type", []watcher.Option{watcher.Add("w", watcher.Simple(watcher.Funcs[metav1.PartialObjectMetadata]{}))}, `watcher "w": it is about a v1.PartialObjectMetadata`},
		{"no finalizer", []watcher.Option{opinionated()}, `watcher "w": opinionate: no finalizer`},
		{"an empty finalizer", []watcher.Option{watcher.AddReconciler("w", ok, watcher.Finalizer(""))}, `finalizer "": use a domain`},
		{"a finalizer that isn't valid", []watcher.Option{opinionated(watcher.Finalizer("not valid!"))}, `finalizer "not valid!"`},
		{"two names for the time of Add", []watcher.Option{opinionated(watcher.Finalizer(own), watcher.InProgress("a/b", "a/c"))}, "in progress: 2 names"},
		{"a time of Add without a finalizer", []watcher.Option{watcher.AddReconciler("w", ok, watcher.InProgress())}, "they need a finalizer"},
		{"one finalizer for two", []watcher.Option{opinionated(watcher.Finalizer(own)), watcher.AddReconciler("v", ok, watcher.Finalizer(own))}, "another watcher has it"},
		{"an option of Opinionate in Add", []watcher.Option{watcher.Add("w", audit{}, watcher.Finalizer(own))}, "finalizer: not an option of Add: pass it to Opinionate or AddReconciler"},
		{"an option of New in Add", []watcher.Option{watcher.Add("w", audit{}, watcher.Resync(time.Hour))}, "resync: not an option of Add"},
		{"Add in Add", []watcher.Option{watcher.Add("w", audit{}, watcher.Add("v", audit{}))}, "add: not an option of Add"},
		{"an option of Add in Opinionate", []watcher.Option{opinionated(watcher.Finalizer(own), watcher.Retry(nil))}, "retry: not an option of Opinionate"},
		{"no concurrency", []watcher.Option{watcher.Concurrency(0)}, "concurrency 0"},
		{"no time", []watcher.Option{watcher.Resync(0)}, "resync 0s"},
		{"a nil filter", []watcher.Option{watcher.When(nil)}, "when: nil filter"},
		{"a nil function for errors", []watcher.Option{watcher.OnError(nil)}, "on error: nil function"},
	} {
		t.Run("watcher 29: "+row.reason, func(t *testing.T) {
			t.Parallel()
			_, err := watcher.New[Bucket](buckets, row.opts...).Reconciler(t.Context(), newEnv(t))
			assert.ErrorContains(t, err, row.want)
			assert.NotContains(t, err.Error(), "\n", "one mistake is one error")
		})
	}
	t.Run("watcher 29: all mistakes at once", func(t *testing.T) {
		t.Parallel()
		_, err := watcher.New[string](schema.GroupVersionKind{}, watcher.Resync(0), watcher.Add("w", audit{}), nil).Reconciler(t.Context(), newEnv(t))
		for _, want := range []string{"type string", "resync 0s", "needs a version and a kind", "it is about a watcher_test.Bucket"} {
			assert.ErrorContains(t, err, want)
		}
	})
	t.Run("watcher 29: an opinionated watcher outside of a reconcile", func(t *testing.T) {
		t.Parallel()
		w := watcher.Opinionate(watcher.Funcs[Bucket]{}, watcher.Finalizer(own))
		assert.ErrorContains(t, w.Add(t.Context(), &Bucket{}), "called outside of a watcher")
		assert.Error(t, w.Update(t.Context(), &Bucket{}, &Bucket{}))
		assert.Error(t, w.Delete(t.Context(), &Bucket{}))
	})
}
