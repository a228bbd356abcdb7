package watcher_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/finalizer"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/reconcile/watcher"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const other = "example.dev/other"

// timedAll wraps a watcher, and says so.
type timedAll struct{ watcher.Watcher[Bucket] }

// Unwrap returns the watcher that it wraps.
func (w timedAll) Unwrap() watcher.Watcher[Bucket] { return w.Watcher }

// secret wraps a watcher, and doesn't say so.
type secret struct{ watcher.Watcher[Bucket] }

// both calls two watchers.
type both struct{ first, second watcher.Watcher[Bucket] }

func (b both) Unwrap() []watcher.Watcher[Bucket] {
	return []watcher.Watcher[Bucket]{b.first, b.second}
}

func (b both) Add(ctx context.Context, object *Bucket) error {
	return errors.Join(b.first.Add(ctx, object), b.second.Add(ctx, object))
}

func (b both) Update(ctx context.Context, old, object *Bucket) error {
	return errors.Join(b.first.Update(ctx, old, object), b.second.Update(ctx, old, object))
}

func (b both) Delete(ctx context.Context, object *Bucket) error {
	return errors.Join(b.first.Delete(ctx, object), b.second.Delete(ctx, object))
}

// torn panics when it is unwrapped.
type torn struct{ audit }

func (torn) Unwrap() watcher.Watcher[Bucket] { panic("nothing in it") }

func TestWrap(t *testing.T) {
	opinionated := func(opts ...watcher.Option) watcher.Watcher[Bucket] {
		return watcher.Opinionate(watcher.Wrap(audit{}, true), opts...)
	}
	t.Run("watcher 67: the finalizers and the rights of wrapped watchers are known", func(t *testing.T) {
		made, err := watcher.New[Bucket](buckets, watcher.Add("w", timedAll{both{
			opinionated(watcher.Finalizer(own), watcher.InProgress()), timedAll{opinionated(watcher.Finalizer(other))},
		}})).Reconciler(t.Context(), newEnv(t))
		require.NoError(t, err)
		assert.Equal(t, []string{own, begun, other}, made.(finalizer.Provider).Finalizers())
		assert.Equal(t, []string{"get", "list", "watch", "patch"}, made.(watch.RightsProvider).Rights()[0].Verbs)
	})
	for _, row := range []struct {
		reason string
		w      watcher.Watcher[Bucket]
		want   string
	}{
		{"mistakes of a wrapped watcher", timedAll{opinionated()}, `watcher "w": opinionate: no finalizer`},
		{"two wrapped watchers with one finalizer", both{opinionated(watcher.Finalizer(own)), opinionated(watcher.Finalizer(own))}, "another watcher has it"},
		{"Opinionate of Opinionate", watcher.Opinionate(watcher.Wrap(opinionated(watcher.Finalizer(own)), true), watcher.Finalizer(other)),
			"the watcher of Wrap has a finalizer of its own"},
		{"Opinionate of a wrapped Opinionate", watcher.Opinionate(watcher.Wrap[Bucket](timedAll{opinionated(watcher.Finalizer(own))}, true), watcher.Finalizer(other)),
			"the watcher of Wrap has a finalizer of its own"},
		{"Unwrap panics", torn{}, `watcher "w": unwrap: `},
		{"the finalizer for the time of Add is the other one", opinionated(watcher.Finalizer(own), watcher.InProgress(own)), "is that of Finalizer: use another name"},
	} {
		t.Run("watcher 67: reported at the start: "+row.reason, func(t *testing.T) {
			_, err := watcher.New[Bucket](buckets, watcher.Add("w", row.w)).Reconciler(t.Context(), newEnv(t))
			assert.ErrorContains(t, err, row.want)
			assert.NotContains(t, err.Error(), "\n", "one mistake is one error")
		})
	}
	t.Run("watcher 67: a watcher that wraps one without Unwrap is told so", func(t *testing.T) {
		var failures []watcher.Failure
		h := spy(t, watcher.New[Bucket](buckets, watcher.OnError(func(_ context.Context, f watcher.Failure) { failures = append(failures, f) }),
			watcher.Add("w", secret{opinionated(watcher.Finalizer(own))})))
		h.Apply(small)
		h.Advance(time.Hour)
		require.Len(t, failures, 1)
		assert.True(t, failures[0].GivenUp)
		assert.ErrorContains(t, failures[0].Err, `opinionate: finalizer "example.dev/cloud": watcher "w" doesn't declare it: give it a method Unwrap`)
		h.Writes(0)
	})
	t.Run("watcher 67: Simple of Wrap is its watcher", func(t *testing.T) {
		var j journal
		h := drive(t, &j, watcher.Add("w", watcher.Simple(watcher.Wrap(watcher.Opinionate(j.funcs("w", nil), watcher.Finalizer(own)), false))))
		h.Apply(small)
		h.Advance(0)
		assert.Equal(t, []string{"0s w add 1"}, j.taken())
		assert.Equal(t, []string{own}, h.Get("Bucket small").GetFinalizers())
	})
	t.Run("watcher 67: an opinionated watcher inside a function of another one is an error", func(t *testing.T) {
		inner := opinionated(watcher.Finalizer(own))
		var failures []watcher.Failure
		h := spy(t, watcher.New[Bucket](buckets, watcher.OnError(func(_ context.Context, f watcher.Failure) { failures = append(failures, f) }),
			watcher.Add("w", watcher.Opinionate(watcher.Funcs[Bucket]{Add: inner.Add, Delete: inner.Delete}, watcher.Finalizer(other)))))
		h.Apply(small)
		h.Advance(time.Hour)
		require.Len(t, failures, 1)
		assert.ErrorContains(t, failures[0].Err, "called outside of a watcher")
	})
	t.Run("watcher 67: two in one watcher share nothing", func(t *testing.T) {
		var j journal
		h := drive(t, &j, watcher.Add("w", both{
			watcher.Opinionate(j.funcs("first", nil), watcher.Finalizer(own)),
			watcher.Opinionate(j.funcs("second", map[string]int{"delete": 1}), watcher.Finalizer(other)),
		}))
		h.Apply(small)
		require.NoError(t, h.Memory().Fail(dryrun.Fault{Verb: dryrun.VerbPatch, Count: 1, Code: http.StatusForbidden}))
		h.Advance(time.Minute)
		assert.Equal(t, []string{"0s first add 1", "0s second add 1", "5s second sync 1"}, j.taken(),
			"the write of the first one is repeated alone, and the second one was added")
		assert.ElementsMatch(t, []string{own, other}, h.Get("Bucket small").GetFinalizers())
		resize(h, 2)
		h.Advance(0)
		h.Delete("Bucket small")
		h.Advance(time.Minute)
		assert.Equal(t, []string{"1m0s first update 1->2", "1m0s second update 1->2", "1m0s first delete 2", "1m0s second delete 2 fails", "1m5s second delete 2"}, j.taken())
		h.Gone("Bucket small")
	})
	t.Run("watcher 68: a watcher that is added at run time has a name and finalizers of its own", func(t *testing.T) {
		w := watcher.New[Bucket](buckets, watcher.Add("first", opinionated(watcher.Finalizer(own))))
		for _, row := range []struct {
			option watcher.Option
			want   string
		}{
			{watcher.Add("second", opinionated(watcher.Finalizer(own))), `watcher "second": finalizer "example.dev/cloud": another watcher has it`},
			{watcher.Add("second", opinionated(watcher.Finalizer(other), watcher.InProgress(own))), "another watcher has it"},
			{watcher.Add("second", opinionated(watcher.Finalizer(other), watcher.InProgress(other))), "is that of Finalizer"},
			{watcher.Add("first", opinionated(watcher.Finalizer(other))), "there is one already"},
		} {
			_, err := w.Add(row.option)
			assert.ErrorContains(t, err, row.want)
		}
		_, err := w.Add(watcher.Add("second", opinionated(watcher.Finalizer(other))))
		assert.NoError(t, err)
	})
}
