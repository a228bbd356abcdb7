package watcher_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/standing"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/reconcile/watcher"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestRetries(t *testing.T) {
	t.Run("watcher 2: one that fails doesn't stop the others, and is repeated alone", func(t *testing.T) {
		var j journal
		h := drive(t, &j,
			watcher.Add("cloud", watcher.Simple(j.funcs("cloud", map[string]int{"add": 2})), watcher.Retry(watcher.Exponential(5*time.Second, 5))),
			watcher.Add("audit", watcher.Simple(j.funcs("audit", nil))))
		h.Apply(small)
		h.Advance(time.Hour)
		assert.Equal(t, []string{"0s cloud add 1 fails", "0s audit add 1", "5s cloud add 1 fails", "15s cloud add 1"}, j.taken())
	})
}

// TestMatrix has, for each policy, what is called when an event comes between a failure and its retry.
func TestMatrix(t *testing.T) {
	twice := watcher.Exponential(5*time.Second, 2)
	never := func(watcher.Question) bool { return false }
	newer := func(q watcher.Question) bool { return q.Object.GetGeneration() > q.RetryObject.GetGeneration() }
	at3 := func(do func(h *reconciletest.Harness)) func(h *reconciletest.Harness) {
		return func(h *reconciletest.Harness) {
			h.Advance(3 * time.Second)
			do(h)
		}
	}
	grow := at3(func(h *reconciletest.Harness) { resize(h, 2) })
	relabel := at3(func(h *reconciletest.Harness) { label(h, "gold") })
	remove := at3(func(h *reconciletest.Harness) { h.Delete("Bucket small") })
	nothing := func(*reconciletest.Harness) {}
	for _, row := range []struct {
		reason string
		opts   []watcher.Option
		fails  map[string]int
		// wasAdded: Add has succeeded before, and the first failure is that of an update.
		wasAdded bool
		event    func(h *reconciletest.Harness)
		want     []string
	}{
		{"watcher 8: each retry comes at its time, the last one is given up", []watcher.Option{watcher.Retry(twice)}, map[string]int{"add": -1}, false, nothing,
			[]string{"0s w add 1 fails", "5s w add 1 fails", "15s w add 1 fails"}},
		{"watcher 8: the default", nil, map[string]int{"add": -1}, false, nothing,
			[]string{"0s w add 1 fails", "5s w add 1 fails", "15s w add 1 fails", "35s w add 1 fails", "1m15s w add 1 fails", "2m35s w add 1 fails"}},
		{"watcher 8: nil never repeats", []watcher.Option{watcher.Retry(nil)}, map[string]int{"add": -1}, false, nothing, []string{"0s w add 1 fails"}},
		{"watcher 5: an update before the first success is Add, with the latest state", []watcher.Option{watcher.Retry(twice)}, map[string]int{"add": 1}, false, grow,
			[]string{"0s w add 1 fails", "3s w add 2"}},
		{"watcher 10: by default it leaves the retries of Add as they are", []watcher.Option{watcher.Retry(twice)}, map[string]int{"add": -1}, false, grow,
			[]string{"0s w add 1 fails", "3s w add 2 fails", "5s w add 2 fails", "15s w add 2 fails"}},
		{"watcher 10: nil begins them anew", []watcher.Option{watcher.Retry(twice), watcher.Dequeue(nil)}, map[string]int{"add": -1}, false, grow,
			[]string{"0s w add 1 fails", "3s w add 2 fails", "8s w add 2 fails", "18s w add 2 fails"}},
		{"watcher 11: so does a policy of one's own", []watcher.Option{watcher.Retry(twice), watcher.Dequeue(newer)}, map[string]int{"add": -1}, false, grow,
			[]string{"0s w add 1 fails", "3s w add 2 fails", "8s w add 2 fails", "18s w add 2 fails"}},
		{"watcher 10: by default a new generation begins the retries of an update anew", []watcher.Option{watcher.Retry(twice)}, map[string]int{"update": -1}, true, grow,
			[]string{"0s w update 1->5 fails", "3s w update 1->2 fails", "8s w update 1->2 fails", "18s w update 1->2 fails"}},
		{"watcher 10: and a label doesn't", []watcher.Option{watcher.Retry(twice)}, map[string]int{"update": -1}, true, relabel,
			[]string{"0s w update 1->5 fails", "3s w update 1->5 fails", "5s w update 1->5 fails", "15s w update 1->5 fails"}},
		{"watcher 6: a success ends them, whatever the policy", []watcher.Option{watcher.Retry(twice), watcher.Dequeue(never)}, map[string]int{"update": 1}, true, relabel,
			[]string{"0s w update 1->5 fails", "3s w update 1->5"}},
		{"watcher 4: the old state is that of the last success", []watcher.Option{watcher.Retry(twice)}, map[string]int{"update": 1}, true, grow,
			[]string{"0s w update 1->5 fails", "3s w update 1->2"}},
		{"watcher 7: a deletion ends them, whatever the policy", []watcher.Option{watcher.Retry(twice), watcher.Dequeue(never)}, map[string]int{"add": -1}, false, remove,
			[]string{"0s w add 1 fails", "3s w delete 1"}},
		{"watcher 7: a deletion has retries of its own", []watcher.Option{watcher.Retry(twice)}, map[string]int{"delete": -1}, false, remove,
			[]string{"0s w add 1", "3s w delete 1 fails", "8s w delete 1 fails", "18s w delete 1 fails"}},
		{"watcher 7: a new object waits until they have ended", []watcher.Option{watcher.Retry(twice)}, map[string]int{"delete": 1}, false,
			at3(func(h *reconciletest.Harness) {
				h.Delete("Bucket small")
				h.Apply(larger)
			}), []string{"0s w add 1", "3s w delete 1 fails", "8s w delete 1", "8s w add 2"}},
		{"watcher 80: the retries of a deletion go on when a later object goes whose deletion the filter refuses", []watcher.Option{watcher.Retry(twice), watcher.When(ofSmall)}, map[string]int{"delete": 1}, false,
			at3(func(h *reconciletest.Harness) {
				h.Delete("Bucket small")
				h.Apply(larger)
				h.Advance(time.Second)
				h.Delete("Bucket small")
			}), []string{"0s w add 1", "3s w delete 1 fails", "8s w delete 1"}},
	} {
		t.Run(row.reason, func(t *testing.T) {
			var j journal
			h := drive(t, &j, append(row.opts, watcher.Add("w", watcher.Simple(j.funcs("w", row.fails))))...)
			h.Apply(small)
			if row.wasAdded {
				h.Advance(0)
				resize(h, 5)
				j.taken()
			}
			h.Advance(0)
			row.event(h)
			h.Advance(24 * time.Hour)
			assert.Equal(t, row.want, j.taken())
		})
	}
}

func TestGivenUp(t *testing.T) {
	tryAgain := map[string]func(h *reconciletest.Harness){
		"an event":  func(h *reconciletest.Harness) { label(h, "gold") },
		"a restart": func(h *reconciletest.Harness) { h.Restart() },
		"a forced reconcile": func(h *reconciletest.Harness) {
			h.Edit("Bucket small", func(obj *unstructuredObject) {
				obj.SetAnnotations(map[string]string{"operkit.dev/reconcile-at": "now"})
			})
		},
		"a resync": func(h *reconciletest.Harness) { h.Advance(10 * time.Minute) },
	}
	for what, happens := range tryAgain {
		t.Run("watcher 14: a watcher that was given up is reported, and called again with "+what, func(t *testing.T) {
			var j journal
			var reported []watcher.Failure
			var made watch.Reconciler
			w := watcher.New[Bucket](buckets, watcher.Retry(watcher.Exponential(time.Second, 1)), watcher.Resync(10*time.Minute),
				watcher.OnError(func(_ context.Context, f watcher.Failure) { reported = append(reported, f) }),
				watcher.Add("cloud", watcher.Simple(j.funcs("cloud", map[string]int{"add": 2}))))
			h := reconciletest.Drive(t, watch.NewController(buckets, func(ctx context.Context, env watch.Env) (watch.Reconciler, error) {
				var err error
				made, err = w.Reconciler(ctx, env)
				return made, err
			}))
			h.Apply(small)
			h.Advance(time.Minute)
			require.Len(t, reported, 2)
			assert.Equal(t, []bool{false, true}, []bool{reported[0].GivenUp, reported[1].GivenUp})
			assert.Equal(t, []int{1, 2}, []int{reported[0].Attempt, reported[1].Attempt})
			assert.Equal(t, time.Second, reported[0].RetryIn)
			tally := made.(standing.Provider).Tally()
			assert.Equal(t, map[string]int{"cloud": 1}, tally.GivenUp)
			assert.Equal(t, map[standing.Standing]int{standing.Failing: 1}, tally.Resources)
			assert.Equal(t, []string{"cloud add 1 fails", "cloud add 1 fails"}, j.taken())
			happens(h)
			h.Advance(0)
			assert.Equal(t, []string{"cloud add 1"}, j.taken())
			assert.Equal(t, map[standing.Standing]int{standing.Settled: 1}, made.(standing.Provider).Tally().Resources)
		})
	}
	t.Run("watcher 14: a deletion that was given up is over", func(t *testing.T) {
		var j journal
		h := drive(t, &j, watcher.Retry(nil), watcher.Add("cloud", watcher.Simple(j.funcs("cloud", map[string]int{"delete": 1}))))
		h.Apply(small)
		h.Advance(0)
		h.Delete("Bucket small")
		h.Advance(time.Hour)
		h.Apply(small)
		h.Advance(0)
		assert.Equal(t, []string{"0s cloud add 1", "0s cloud delete 1 fails", "1h0m0s cloud add 1"}, j.taken())
	})
}

func TestErrors(t *testing.T) {
	errs := func(list ...error) watcher.Watcher[Bucket] {
		return watcher.Simple(watcher.Funcs[Bucket]{Add: func(context.Context, *Bucket) error {
			err := list[0]
			list = list[1:]
			return err
		}})
	}
	boom := errors.New("boom")
	for _, row := range []struct {
		reason string
		errs   []error
		times  []time.Duration
	}{
		{"watcher 12: a permanent error isn't repeated", []error{request.Permanent(boom)}, []time.Duration{0}},
		{"watcher 12: an error may set the time", []error{request.RetryAfter(time.Minute, boom), nil}, []time.Duration{0, time.Minute}},
		{"watcher 12: which counts as a retry", []error{request.RetryAfter(time.Minute, boom), request.RetryAfter(time.Minute, boom), request.RetryAfter(time.Minute, boom)}, []time.Duration{0, time.Minute, 2 * time.Minute}},
	} {
		t.Run(row.reason, func(t *testing.T) {
			var times []time.Duration
			var h *reconciletest.Harness
			h = reconciletest.Drive(t, watcher.New[Bucket](buckets, watcher.Retry(watcher.Exponential(time.Second, 2)), watcher.Add("w", timed(errs(row.errs...), func() {
				times = append(times, h.Now().Sub(reconciletest.Started))
			}))))
			h.Apply(small)
			h.Advance(time.Hour)
			assert.Equal(t, row.times, times)
		})
	}
	t.Run("watcher 28: a panic is an error", func(t *testing.T) {
		var reported []watcher.Failure
		h := reconciletest.Drive(t, watcher.New[Bucket](buckets, watcher.Retry(nil),
			watcher.OnError(func(_ context.Context, f watcher.Failure) {
				reported = append(reported, f)
				panic("in OnError, too")
			}),
			watcher.Add("w", watcher.Simple(watcher.Funcs[Bucket]{Add: func(context.Context, *Bucket) error { panic("out of cheese") }}))))
		h.Apply(small)
		h.Advance(time.Hour)
		require.Len(t, reported, 1)
		assert.Len(t, request.Panics(reported[0].Err), 1)
	})
	t.Run("watcher 28: an error that panics when it is looked at is a failure", func(t *testing.T) {
		var reported []watcher.Failure
		h := reconciletest.Drive(t, watcher.New[Bucket](buckets, watcher.Retry(nil),
			watcher.OnError(func(_ context.Context, f watcher.Failure) { reported = append(reported, f) }),
			watcher.Add("w", watcher.Simple(watcher.Funcs[Bucket]{Add: func(context.Context, *Bucket) error { return rotten{} }}))))
		h.Apply(small)
		h.Advance(time.Hour)
		require.Len(t, reported, 1)
		assert.Len(t, request.Panics(reported[0].Err), 1)
	})
	t.Run("watcher 28: an object that the type can't hold is an error", func(t *testing.T) {
		var reported []watcher.Failure
		h := reconciletest.Drive(t, watcher.New[Bucket](buckets, watcher.Retry(nil),
			watcher.OnError(func(_ context.Context, f watcher.Failure) { reported = append(reported, f) }), watcher.Add("w", audit{})))
		h.Apply(`{apiVersion: example.dev/v1, kind: Bucket, metadata: {name: small}, spec: {size: many}}`)
		h.Advance(time.Hour)
		require.Len(t, reported, 1)
		assert.ErrorContains(t, reported[0].Err, "spec.size")
	})
}

// rotten is an error that panics when it is looked at.
type rotten struct{}

func (rotten) Error() string { return "rotten" }

func (rotten) Unwrap() error { panic("nothing in it") }

// timed returns a watcher that calls f before each call of Add.
func timed(w watcher.Watcher[Bucket], f func()) watcher.Watcher[Bucket] {
	funcs := watcher.Wrap(w, false)
	add := funcs.Add
	funcs.Add = func(ctx context.Context, b *Bucket) error {
		f()
		return add(ctx, b)
	}
	return watcher.Simple(funcs)
}

// ofSmall refuses the deletion of a bucket that is larger than small.
func ofSmall(e deploy.Event) bool {
	size, _, _ := unstructured.NestedInt64(e.New.Object, "spec", "size")
	return e.Type != deploy.Deleted || size == 1
}
