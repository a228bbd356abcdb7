package reconcile

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/pause"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/standing"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

var _ watch.Forgetter = (*Reconciler)(nil)

// pause has somebody set the annotation that pauses the widget.
func (w *world) pause(value string) {
	w.t.Helper()
	w.merge(widgetRef, fmt.Sprintf(`{"metadata":{"annotations":{"operkit.dev/pause-execution":%q}}}`, value))
}

// unpause has somebody take it off.
func (w *world) unpause() {
	w.t.Helper()
	w.merge(widgetRef, `{"metadata":{"annotations":{"operkit.dev/pause-execution":null}}}`)
}

// isPaused reports whether the widget says that it is.
func (w *world) isPaused() bool {
	w.t.Helper()
	return status.Conditions(w.widget()).IsTrue(ConditionPaused)
}

// room is a controller of one ConfigMap.
func room() *controller { return adding(func(s *Session) { s.Add("c", configMap("c")) }) }

func TestPauseAnnotation(t *testing.T) {
	t.Parallel()
	said := func(value string) any { return map[string]any{"operkit.dev/pause-execution": value} }
	for _, row := range []struct {
		reason      string
		annotations any
		paused      bool
		left        time.Duration
		warned      bool
	}{
		{reason: "reconcile 38: true", annotations: said("true"), paused: true},
		{reason: "reconcile 38: in any case", annotations: said("TrUe"), paused: true},
		{reason: "reconcile 38: false", annotations: said("false")},
		{reason: "reconcile 38: anything else is no pause, which is said", annotations: said("yes"), warned: true},
		{reason: "reconcile 38: not even with a space, which the filters don't see through", annotations: said("true "), warned: true},
		{reason: "reconcile 38: nor is nothing", annotations: said("")},
		{reason: "reconcile 38: another domain's", annotations: map[string]any{"oper8.org/pause-execution": "true"}},
		{reason: "until a time", annotations: said("2030-01-02T03:14:04Z"), paused: true, left: 9*time.Minute + 59*time.Second},
		{reason: "in another zone", annotations: said("2030-01-02T04:14:04+01:00"), paused: true, left: 9*time.Minute + 59*time.Second},
		{reason: "until a fraction of a second", annotations: said("2030-01-02T03:04:05.5Z"), paused: true, left: 500 * time.Millisecond},
		{reason: "until a far time: it is looked at before, should somebody set the clock", annotations: said("2030-02-02T03:04:05Z"), paused: true, left: pause.Longest},
		{reason: "until a time further than a Duration", annotations: said("9999-12-31T23:59:59Z"), paused: true, left: pause.Longest},
		{reason: "until a time that is over", annotations: said("2030-01-02T03:04:05Z")},
		{reason: "until the first of all times", annotations: said("0001-01-01T00:00:00Z")},
		{reason: "a time without its zone", annotations: said("2030-01-02T04:04:05"), warned: true},
		{reason: "a day that there isn't", annotations: said("2030-02-30T00:00:00Z"), warned: true},
		{reason: "mistake 26: a boolean", annotations: map[string]any{"operkit.dev/pause-execution": true}},
		{reason: "mistake 26: null", annotations: map[string]any{"operkit.dev/pause-execution": nil}},
		{reason: "mistake 26: no annotations"},
		{reason: "mistake 26: annotations that are none", annotations: "text"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			resource := widget()
			if row.annotations != nil {
				resource.Object["metadata"].(map[string]any)["annotations"] = row.annotations
			}
			w := newWorld(t)
			p, paused := w.reconciler(&controller{}).lifecycle.Paused(t.Context(), resource)
			assert.Equal(t, row.paused, paused)
			if paused {
				assert.Equal(t, row.left, p.Left(w.clock.Now()))
			}
			assert.Equal(t, row.warned, w.logs.Count("not paused") > 0)
		})
	}
}

func TestPause(t *testing.T) {
	t.Parallel()
	t.Run("reconcile 38: nothing happens, but that one condition says so, once", func(t *testing.T) {
		t.Parallel()
		w := finalized(t)
		w.pause("true")
		untouched := func(context.Context, *Session) error { return errors.New("it is touched") }
		r := w.reconciler(&finalizing{controller{untouched}, untouched})
		calls, result, err := w.once(r)
		require.NoError(t, err)
		assert.Equal(t, []string{writeStatus}, calls)
		assert.Equal(t, request.Result{}, result, "and only an event ends it")
		assert.Equal(t, metav1.Condition{
			Type: ConditionPaused, Status: metav1.ConditionTrue, Reason: ReasonPaused, LastTransitionTime: w.condition(ConditionPaused).LastTransitionTime,
			Message: `The annotation operkit.dev/pause-execution is "true": the resource isn't reconciled until the annotation is removed; its deletion doesn't wait`,
		}, w.condition(ConditionPaused))
		assert.Equal(t, w.clock.Now(), w.condition(ConditionPaused).LastTransitionTime.UTC())
		assert.Len(t, status.Conditions(w.widget()).List(), 1, "of the others nothing is known")
		w.merge(widgetRef, `{"spec":{"size":4}}`)
		assert.Empty(t, w.calm(r), "whatever happens to it meanwhile")
		assert.Empty(t, w.calm(w.reconciler(&controller{untouched})), "nor after a restart of the operator")
		assert.Empty(t, w.logs.String())
	})
	t.Run("what the status said before stays, and the end of the pause is told with the rest", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.mergeStatus(widgetRef, `{"status":{"extra":"theirs","conditions":[{"type":"Theirs","status":"True","reason":"Known"}]}}`)
		r := w.reconciler(room())
		w.calm(r)
		before := w.widget().Object["status"]
		w.pause("true")
		assert.Equal(t, []string{writeStatus}, w.calm(r))
		assert.Equal(t, "Stable/Stable", w.verdict())
		w.unpause()
		assert.Equal(t, []string{writeStatus}, w.calm(r), "one write, although nothing else is new")
		assert.Equal(t, before, w.widget().Object["status"])
		assert.Empty(t, w.calm(r))
		w.pause("true")
		w.calm(r)
		w.merge(widgetRef, `{"spec":{"size":4},"metadata":{"generation":2}}`)
		w.pause("false")
		assert.Equal(t, []string{writeStatus}, w.calm(r), "nor are there two when it is")
		assert.Equal(t, int64(2), w.condition(status.ConditionReady).ObservedGeneration)
		assert.False(t, w.isPaused())
	})
	t.Run("reconcile 38: by the domain of the operator", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.merge(widgetRef, `{"metadata":{"annotations":{"oper8.org/pause-execution":"true"}}}`)
		r, err := New(room(), must(deploy.NewManager(w, deploy.KeyDomain("oper8.org"))), Clock(w.clock.Now))
		require.NoError(t, err)
		assert.Equal(t, []string{writeStatus}, w.calm(r))
		assert.Contains(t, w.condition(ConditionPaused).Message, `The annotation oper8.org/pause-execution is "true"`)
	})
	t.Run("a pause that becomes another one is told", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		r := w.reconciler(room())
		w.pause("true")
		w.calm(r)
		w.pause("2030-01-02T05:00:00+01:00")
		assert.Equal(t, []string{writeStatus}, w.calm(r))
		assert.Equal(t, ReasonPausedUntil, w.condition(ConditionPaused).Reason)
		assert.Equal(t, "The annotation operkit.dev/pause-execution is a time: the resource isn't reconciled before 2030-01-02T04:00:00Z unless the annotation is removed; its deletion doesn't wait",
			w.condition(ConditionPaused).Message)
		assert.Equal(t, time.Date(2030, 1, 2, 3, 4, 6, 0, time.UTC), w.condition(ConditionPaused).LastTransitionTime.UTC(), "status 28: since the first one")
		assert.Empty(t, w.calm(r))
	})
	t.Run("until a time: it is looked at again then", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.pause("2030-01-02T03:05:05Z")
		r := w.reconciler(room())
		calls, result, err := w.once(r)
		require.NoError(t, err)
		assert.Equal(t, []string{writeStatus}, calls)
		assert.Equal(t, request.Result{RequeueAfter: 59 * time.Second}, result)
		_, result, err = w.once(r)
		require.NoError(t, err)
		assert.Equal(t, request.Result{RequeueAfter: 58 * time.Second}, result, "whatever happens meanwhile")
		w.clock.advance(time.Minute)
		assert.Equal(t, []string{"apply ConfigMap shop/c", writeStatus}, w.calm(r))
		assert.False(t, w.isPaused())
		assert.Empty(t, w.calm(r), "a time that is over may stay")
		assert.Equal(t, 1, strings.Count(w.logs.String(), "\n"), w.logs.String())
		assert.Len(t, w.ended(), 1)
	})
	t.Run("until a time that comes while it is looked at", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.pause("2030-01-02T03:04:07.5Z")
		r := w.reconciler(room(), Clock(func() time.Time {
			w.clock.advance(time.Second)
			return w.clock.Now()
		}))
		_, result, err := w.once(r)
		require.NoError(t, err)
		assert.Equal(t, request.Result{RequeueAfter: time.Millisecond}, result, "zero would be never")
		assert.Equal(t, []string{"apply ConfigMap shop/c", writeStatus}, w.calm(r))
		assert.False(t, w.isPaused())
	})
	t.Run("until a time, with a clock that is set", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.pause("2030-01-02T04:04:05Z")
		r := w.reconciler(room())
		w.calm(r)
		w.clock.advance(-1000 * time.Hour)
		_, result, err := w.once(r)
		require.NoError(t, err)
		assert.Equal(t, request.Result{RequeueAfter: pause.Longest}, result)
		w.clock.advance(2000 * time.Hour)
		assert.Equal(t, []string{"apply ConfigMap shop/c", writeStatus}, w.calm(r))
		assert.Zero(t, r.Tally().Resources[standing.Paused])
	})
	t.Run("a start that is told ends it too", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		r := w.reconciler(room())
		w.calm(r)
		w.pause("true")
		w.calm(r)
		session := must(r.session(t.Context(), w.widget(), 0))
		w.forget()
		r.writeStart(t.Context(), session)
		assert.Equal(t, []string{writeStatus}, w.made())
		assert.False(t, w.isPaused())
		assert.Equal(t, "Stable/Stable", w.verdict())
	})
}

func TestDeletionOfPausedResources(t *testing.T) {
	t.Parallel()
	paused := func(t *testing.T, more ...Option) (w *world, r *Reconciler, finalizations *int) {
		w = finalized(t, ours)
		finalizations = new(int)
		f := &finalizing{*room(), func(context.Context, *Session) error {
			if *finalizations++; *finalizations == 1 {
				return request.Precondition("a guest is left")
			}
			return nil
		}}
		r = w.reconciler(f, more...)
		w.calm(r)
		w.pause("true")
		require.Equal(t, []string{writeStatus}, w.calm(r))
		require.Equal(t, 1, r.Tally().Resources[standing.Paused])
		w.delete(widgetRef)
		return w, r, finalizations
	}
	t.Run("it goes on, and then the resource isn't paused", func(t *testing.T) {
		t.Parallel()
		w, r, finalizations := paused(t)
		assert.Equal(t, []string{writeStatus}, w.calm(r))
		assert.Equal(t, "finalize: a guest is left", w.message())
		assert.False(t, w.isPaused())
		assert.Zero(t, r.Tally().Resources[standing.Paused])
		assert.Equal(t, []string{patchWidget}, w.calm(r))
		assert.Nil(t, w.get(widgetRef))
		assert.Equal(t, 2, *finalizations)
	})
	t.Run("PauseDeletions: it waits for the end of the pause", func(t *testing.T) {
		t.Parallel()
		w, r, finalizations := paused(t, PauseDeletions())
		for range 3 {
			calls, result, err := w.once(r)
			require.NoError(t, err)
			assert.Empty(t, calls)
			assert.Equal(t, request.Result{}, result)
		}
		assert.Zero(t, *finalizations)
		assert.Equal(t, []string{ours}, w.widget().GetFinalizers())
		assert.Contains(t, w.condition(ConditionPaused).Message, "its deletion waits too")
		w.unpause()
		assert.Equal(t, []string{writeStatus}, w.calm(r))
		assert.False(t, w.isPaused())
		assert.Equal(t, []string{patchWidget}, w.calm(r))
		assert.Nil(t, w.get(widgetRef))
	})
	t.Run("PauseDeletions: until a time", func(t *testing.T) {
		t.Parallel()
		w := finalized(t, ours)
		w.pause("2030-01-02T03:05:05Z")
		w.delete(widgetRef)
		r := w.reconciler(&finalizing{}, PauseDeletions())
		calls, result, err := w.once(r)
		require.NoError(t, err)
		assert.Equal(t, []string{writeStatus}, calls)
		assert.Equal(t, request.Result{RequeueAfter: 59 * time.Second}, result)
		w.clock.advance(time.Minute)
		assert.Equal(t, []string{patchWidget}, w.calm(r))
		assert.Nil(t, w.get(widgetRef))
	})
	t.Run("PauseDeletions: a dry run doesn't rest", func(t *testing.T) {
		t.Parallel()
		w := finalized(t, ours)
		w.pause("true")
		w.delete(widgetRef)
		assert.Equal(t, []string{patchWidget}, w.calm(w.reconciler(&finalizing{}, PauseDeletions(), DryRun())))
	})
}

func TestStrangePauses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.reconciler(room())
	w.pause("yes")
	assert.Equal(t, []string{"apply ConfigMap shop/c", writeStatus}, w.calm(r), "reconcile 38: it is no pause")
	assert.Empty(t, w.calm(r))
	assert.Equal(t, 1, w.logs.Count("not paused"), "it is said once")
	assert.Zero(t, r.Tally().Resources[standing.Paused])
	w.pause("no")
	w.calm(r)
	w.calm(r)
	assert.Equal(t, 2, w.logs.Count("not paused"), "and of each value")
	w.unpause()
	w.calm(r)
	w.pause("no")
	w.calm(r)
	assert.Equal(t, 3, w.logs.Count("not paused"), "also of one that comes back")
	w.delete(widgetRef)
	w.calm(r)
	assert.Zero(t, r.lifecycle.Memory.Len(), "and nothing is kept of what is gone")
}

func TestPaused(t *testing.T) {
	t.Parallel()
	resource := func(name, value string) *unstructured.Unstructured {
		obj := widget()
		obj.SetName(name)
		obj.SetUID(types.UID("uid-of-" + name))
		obj.SetAnnotations(map[string]string{"operkit.dev/pause-execution": value})
		return obj
	}
	w := newWorld(t, resource("a", "true"), resource("b", "TRUE"), resource("c", "2030-01-02T03:10:00Z"), resource("d", "maybe"), resource("e", "2030-01-01T00:00:00Z"))
	r := w.reconciler(adding(func(*Session) {}))
	reconcile := func(names ...string) {
		t.Helper()
		for _, name := range names {
			_, err := r.Reconcile(t.Context(), request.Request{Key: deploy.Ref{Kind: widgets, Namespace: "shop", Name: name}})
			require.NoError(t, err)
		}
	}
	ref := func(name string) deploy.Ref { return deploy.Ref{Kind: widgets, Namespace: "shop", Name: name} }
	assert.Zero(t, r.Tally().Resources[standing.Paused], "nobody has looked yet")
	reconcile("a", "b", "c", "d", "e", "w")
	reconcile("a", "b", "c", "d", "e", "w")
	assert.Equal(t, 3, r.Tally().Resources[standing.Paused], "each once; a strange value and a time that is over don't count")
	w.clock.advance(time.Hour)
	reconcile("c")
	assert.Equal(t, 2, r.Tally().Resources[standing.Paused], "nor does a time that comes to be")
	w.delete(ref("a"))
	reconcile("a")
	assert.Equal(t, 1, r.Tally().Resources[standing.Paused], "watch mistake 2: what is gone doesn't count")
	key := func(name string) deploy.Ref { return deploy.Ref{Kind: widgets, Namespace: "shop", Name: name} }
	r.Forget(deploy.Ref{Kind: widgets, Namespace: "bank", Name: "b"})
	assert.Equal(t, 1, r.Tally().Resources[standing.Paused], "what is still there does")
	r.Forget(key("b"))
	assert.Zero(t, r.Tally().Resources[standing.Paused], "nor does what has left the view")
	for _, name := range []string{"c", "d", "e"} {
		r.Forget(key(name))
	}
	r.Forget(key("w"))
	assert.Zero(t, r.lifecycle.Memory.Len(), "and nothing is kept of it")
	assert.Empty(t, r.Tally().Resources)
}

// A resource that goes between its being read and its condition's being written leaves nothing behind.
func TestPausedOneThatGoesMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pause("true")
	r := w.reconciler(room())
	resource := w.widget()
	w.delete(widgetRef)
	w.forget()
	p, rests := r.lifecycle.Paused(t.Context(), resource)
	require.True(t, rests)
	_, err := r.lifecycle.Rest(t.Context(), resource, p)
	require.NoError(t, err)
	assert.Empty(t, w.made())
	assert.Zero(t, r.Tally().Resources[standing.Paused])
}
