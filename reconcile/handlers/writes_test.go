package handlers_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/handlers"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

const recordKey = "operkit.dev/operkit-handled.operkit"

func TestWrites(t *testing.T) {
	t.Run("handlers 24: a write that fails calls no handler again", testUnwritten)
	t.Run("handlers 27: an object that no handler is about is left alone", testUnseen)
	t.Run("handlers 28: what the cluster refuses is a failure of its handler", testRefused)
	t.Run("handlers 29: an update is made again on a newer state", testRebased)
	t.Run("handlers 31: a change during a handler is an update after it", testSeenEssence)
	t.Run("handlers 31: handlers that call themselves are named", testOwnEdits)
}

func testUnwritten(t *testing.T) {
	for _, subresource := range []string{"", "status"} {
		var j journal
		c := handlers.New[Claim](claims)
		c.On(handlers.Create, "made", func(ctx context.Context, r *handlers.Request[Claim]) error {
			r.Update(func(c *Claim) { c.Status.Volume = "v" })
			return j.noting("made")(ctx, r)
		}, handlers.Reports("Made"))
		h := drive(t, c)
		h.Apply(small)
		require.NoError(t, h.Memory().Fail(dryrun.Fault{Verb: dryrun.VerbPatch, Kind: claims, Subresource: subresource, Count: 1, Code: 403}))
		h.RunUntilSettled()
		assert.Equal(t, []string{"made create"}, j.taken(), "subresource %q", subresource)
		assert.Equal(t, metav1.ConditionTrue, h.Condition("Claim small", "Made").Status)
		assert.Equal(t, "v", h.Get("Claim small").Object["status"].(map[string]any)["volume"])
		assert.NotContains(t, h.Get("Claim small").GetAnnotations()[recordKey], "cycle")
	}
}

func testUnseen(t *testing.T) {
	var j journal
	c := handlers.New[Claim](claims)
	c.On(handlers.Create|handlers.Update, "silver", j.noting("silver"), handlers.Label("tier", handlers.Equal("silver")))
	c.On(handlers.Delete, "delete", j.noting("delete"), handlers.Label("tier", handlers.Equal("silver")))
	h := drive(t, c)
	h.Apply(small)
	h.RunUntilSettled()
	h.Writes(0)
	relabel := func(tier string) {
		h.Edit("Claim small", func(obj *unstructured.Unstructured) { obj.SetLabels(map[string]string{"tier": tier}) })
		h.RunUntilSettled()
	}
	relabel("silver")
	assert.Equal(t, []string{"silver create"}, j.taken(), "nothing was recorded before")
	assert.Equal(t, []string{"operkit.dev/operkit"}, h.Get("Claim small").GetFinalizers())
	relabel("gold")
	assert.Empty(t, h.Get("Claim small").GetFinalizers(), "no handler needs it any more")
	h.Delete("Claim small")
	h.RunUntilSettled()
	assert.Empty(t, j.taken())
}

const strict = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: claims.example.dev}
spec:
  group: example.dev
  names: {kind: Claim, plural: claims}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, x-kubernetes-preserve-unknown-fields: true}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {volume: {type: string, maxLength: 5}}}
`

func testRefused(t *testing.T) {
	volume := "too long"
	var j journal
	c := handlers.New[Claim](claims)
	c.On(handlers.Create, "first", func(_ context.Context, r *handlers.Request[Claim]) error {
		j.write("first")
		r.Update(func(c *Claim) { c.Status.Volume = volume })
		return nil
	}, handlers.Reports("First"), handlers.Backoff(time.Minute))
	c.On(handlers.Create, "second", j.noting("second"))
	h := reconciletest.Drive(t, c, reconciletest.Memory(dryrun.Objects(object(t, strict))))
	h.Apply(small)
	h.Advance(0)
	assert.Equal(t, []string{"first", "second create"}, j.taken())
	first := h.Condition("Claim small", "First")
	assert.Equal(t, metav1.ConditionFalse, first.Status)
	assert.Contains(t, first.Message, "the cluster refuses what it has set")
	volume = "v"
	h.Advance(time.Minute)
	assert.Equal(t, []string{"first"}, j.taken(), "the second one has succeeded")
	assert.Equal(t, metav1.ConditionTrue, h.Condition("Claim small", "First").Status)
}

func testRebased(t *testing.T) {
	c := handlers.New[Claim](claims)
	var h *reconciletest.Harness
	c.On(handlers.Create, "mark", func(_ context.Context, r *handlers.Request[Claim]) error {
		h.Edit("Claim small", func(obj *unstructured.Unstructured) { obj.SetAnnotations(map[string]string{"example.dev/a": "b"}) })
		r.Update(func(c *Claim) { c.Labels = map[string]string{"made": "yes"} })
		assert.Equal(t, "yes", r.Object.Labels["made"])
		return nil
	})
	h = drive(t, c)
	h.Apply(small)
	h.RunUntilSettled()
	claim := h.Get("Claim small")
	assert.Equal(t, map[string]string{"made": "yes"}, claim.GetLabels())
	assert.Equal(t, "b", claim.GetAnnotations()["example.dev/a"])
	spec := claim.Object["spec"].(map[string]any)
	assert.Equal(t, "kept", spec["unknown"])
}

func testSeenEssence(t *testing.T) {
	var j journal
	var h *reconciletest.Harness
	c := handlers.New[Claim](claims)
	c.On(handlers.Create, "create", func(context.Context, *handlers.Request[Claim]) error {
		edit(h, "size", int64(7))
		return nil
	})
	c.On(handlers.Update, "update", j.noting("update"))
	h = drive(t, c)
	h.Apply(small)
	h.RunUntilSettled()
	assert.Equal(t, []string{"update update, change .spec.size: 1 -> 7"}, j.taken())
}

func testOwnEdits(t *testing.T) {
	log := &strings.Builder{}
	c := handlers.New[Claim](claims)
	c.On(handlers.Create|handlers.Update, "counter", func(_ context.Context, r *handlers.Request[Claim]) error {
		r.Update(func(c *Claim) { c.Spec.Size++ })
		return nil
	})
	l := newLife(t, func(*life) *handlers.Handlers[Claim] { return c }, log)
	l.start()
	l.create()
	for range 12 {
		l.reconcile()
	}
	assert.Equal(t, 2, strings.Count(log.String(), "handlers call themselves again and again"), log)
	assert.Contains(t, log.String(), "handlers=[counter]")
	assert.Contains(t, log.String(), ".spec.size: ")
}

func nothing(context.Context, *handlers.Request[Claim]) error { return nil }

// looping returns what is logged in 12 updates by handlers that never end.
func looping(t *testing.T, register func(c *handlers.Handlers[Claim])) string {
	log := &strings.Builder{}
	c := handlers.New[Claim](claims)
	register(c)
	l := newLife(t, func(*life) *handlers.Handlers[Claim] { return c }, log)
	l.start()
	l.create()
	for range 12 {
		l.reconcile()
	}
	return log.String()
}

func TestLoops(t *testing.T) {
	longer := func(_ context.Context, r *handlers.Request[Claim]) error {
		volume := r.Object.Status.Volume + "v"
		r.Update(func(c *Claim) { c.Status.Volume = volume })
		return nil
	}
	t.Run("handlers 106: through a field of the status", func(t *testing.T) {
		log := looping(t, func(c *handlers.Handlers[Claim]) {
			c.On(handlers.Create, "first", longer)
			c.Field("status.volume", "longer", longer)
		})
		assert.Equal(t, 2, strings.Count(log, "handlers call themselves again and again"), log)
		assert.Contains(t, log, "handlers=[longer]")
		assert.Contains(t, log, "change .status.volume: ")
	})
	t.Run("handlers 106: through the result of a handler", func(t *testing.T) {
		n := 0
		log := looping(t, func(c *handlers.Handlers[Claim]) {
			c.On(handlers.Create|handlers.Update, "count", func(_ context.Context, r *handlers.Request[Claim]) error {
				n++
				return r.Result(n)
			})
			c.Field("status.count", "counted", nothing)
		})
		assert.Contains(t, log, "handlers=[count]")
		assert.Contains(t, log, "change .status.count: ")
	})
	t.Run("handlers 106: a status that no handler is about is none", func(t *testing.T) {
		log := looping(t, func(c *handlers.Handlers[Claim]) { c.On(handlers.Create|handlers.Update, "longer", longer) })
		assert.NotContains(t, log, "again and again")
	})
	t.Run("handlers 106: also with other handlers after it", func(t *testing.T) {
		log := looping(t, func(c *handlers.Handlers[Claim]) {
			c.On(handlers.Create|handlers.Update, "counter", func(_ context.Context, r *handlers.Request[Claim]) error {
				r.Update(func(c *Claim) { c.Spec.Size++ })
				return nil
			})
			c.On(handlers.Create|handlers.Update, "innocent", nothing)
		})
		assert.Equal(t, 2, strings.Count(log, "handlers call themselves again and again"), log)
		assert.Contains(t, log, "handlers=[counter]")
	})
}

func TestFinalizer(t *testing.T) {
	t.Run("handlers 25: it is there before a handler runs, and others' stay", func(t *testing.T) {
		var h *reconciletest.Harness
		c := handlers.New[Claim](claims, handlers.Finalizer("example.dev/mine"))
		c.On(handlers.Create, "create", func(context.Context, *handlers.Request[Claim]) error {
			assert.Equal(t, []string{"example.dev/other", "example.dev/mine"}, h.Get("Claim small").GetFinalizers())
			return nil
		})
		c.On(handlers.Delete, "delete", func(context.Context, *handlers.Request[Claim]) error { return nil })
		h = drive(t, c)
		h.Apply(strings.Replace(small, "metadata: {", "metadata: {finalizers: [example.dev/other], ", 1))
		h.RunUntilSettled()
		h.Delete("Claim small")
		h.RunUntilSettled()
		assert.Equal(t, []string{"example.dev/other"}, h.Get("Claim small").GetFinalizers())
		h.RunUntilSettled()
		h.Writes(0)
	})
	t.Run("handlers 25: an optional handler needs none", func(t *testing.T) {
		c := handlers.New[Claim](claims)
		c.On(handlers.Delete, "delete", func(context.Context, *handlers.Request[Claim]) error { return nil }, handlers.Optional())
		h := drive(t, c)
		h.Apply(small)
		h.RunUntilSettled()
		h.Writes(0)
	})
	t.Run("handlers 26: a handler that fails for good releases the object", func(t *testing.T) {
		c := handlers.New[Claim](claims)
		c.On(handlers.Delete, "delete", func(context.Context, *handlers.Request[Claim]) error { return errors.New("never") },
			handlers.MaxAttempts(2), handlers.Backoff(time.Minute))
		h := drive(t, c)
		h.Apply(small)
		h.RunUntilSettled()
		h.Delete("Claim small")
		h.Advance(59 * time.Second)
		h.Exists("Claim small")
		h.Advance(time.Second)
		h.Gone("Claim small")
	})
	t.Run("handlers 26: an object that is too large for a record is deleted all the same", testTooLarge)
	t.Run("handlers 107: fields of an object that is too large are known to have changed", testLargeFields)
}

// testLargeFields changes fields of an object whose essence can't be kept.
func testLargeFields(t *testing.T) {
	random := make([]byte, 150<<10)
	_, err := rand.Read(random)
	require.NoError(t, err)
	var j journal
	c := handlers.New[Claim](claims)
	c.Field("spec.size", "size", j.noting("size"))
	c.Field("spec.mode", "mode", j.noting("mode"), handlers.Value(handlers.Not(handlers.Equal("slow"))))
	c.Field("metadata.labels", "labels", j.noting("labels"))
	h := drive(t, c)
	h.Apply(small)
	h.RunUntilSettled()
	edit(h, "note", fmt.Sprintf("%x", random))
	h.RunUntilSettled()
	for _, row := range []struct {
		reason string
		edit   func(obj *unstructured.Unstructured)
		want   []string
	}{
		{"a field is added", func(obj *unstructured.Unstructured) {
			_ = unstructured.SetNestedField(obj.Object, "fast", "spec", "mode")
		}, []string{"mode update"}},
		{"no field of a handler", func(obj *unstructured.Unstructured) {
			_ = unstructured.SetNestedField(obj.Object, "x", "spec", "other")
		}, nil},
		{"one label", func(obj *unstructured.Unstructured) { obj.SetLabels(map[string]string{"tier": "silver"}) }, []string{"labels update"}},
		{"all labels are removed", func(obj *unstructured.Unstructured) { obj.SetLabels(nil) }, []string{"labels update"}},
		{"a field is removed", func(obj *unstructured.Unstructured) { unstructured.RemoveNestedField(obj.Object, "spec", "size") }, []string{"size update"}},
		{"a value that isn't known counts as absent", func(obj *unstructured.Unstructured) {
			_ = unstructured.SetNestedField(obj.Object, "slow", "spec", "mode")
		}, []string{"mode update"}},
	} {
		h.Edit("Claim small", row.edit)
		h.RunUntilSettled()
		assert.Equal(t, row.want, j.taken(), row.reason)
		h.Restart()
		h.RunUntilSettled()
		assert.Empty(t, j.taken(), row.reason)
	}
	assert.NotContains(t, h.Get("Claim small").GetAnnotations()[recordKey], "essence")
	edit(h, "note", "short")
	h.RunUntilSettled()
	assert.NotContains(t, h.Get("Claim small").GetAnnotations()[recordKey], "fields")
}

// testTooLarge handles an object whose essence can't be kept, and then one that leaves no place for any record.
func testTooLarge(t *testing.T) {
	random := make([]byte, 150<<10)
	_, err := rand.Read(random)
	require.NoError(t, err)
	noise := fmt.Sprintf("%x", random) // 300 KiB that can hardly be compressed
	var j journal
	c := handlers.New[Claim](claims)
	c.On(handlers.Create, "create", j.noting("create"))
	c.On(handlers.Update, "update", func(_ context.Context, r *handlers.Request[Claim]) error {
		j.write("update, old: %t, diff: %t", r.Old != nil, r.Diff != nil)
		return nil
	})
	c.On(handlers.Delete, "delete", j.noting("delete", errors.New("not yet")))
	h := drive(t, c)
	h.Apply(small)
	h.RunUntilSettled()
	edit(h, "mode", noise)
	h.RunUntilSettled()
	edit(h, "size", int64(2))
	h.RunUntilSettled()
	assert.Equal(t, []string{"create create", "update, old: true, diff: true", "update, old: false, diff: false"}, j.taken())
	assert.Less(t, len(h.Get("Claim small").GetAnnotations()[recordKey]), 1000)
	h.Edit("Claim small", func(obj *unstructured.Unstructured) {
		annotations := obj.GetAnnotations()
		annotations["example.dev/noise"] = noise[:(256<<10)-len(annotations[recordKey])-len(recordKey)-len("example.dev/noise")]
		obj.SetAnnotations(annotations)
	})
	h.Delete("Claim small")
	h.RunUntilSettled()
	assert.Equal(t, []string{"delete delete", "delete delete"}, j.taken())
	h.Gone("Claim small")
}

// object returns an object from YAML.
func object(t *testing.T, text string) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(text), &obj.Object))
	return obj
}

func TestResumeWritesNothing(t *testing.T) {
	t.Run("handlers 27: a restart after an update writes no condition that is True already", func(t *testing.T) {
		calls := 0
		c := handlers.New[Claim](claims)
		c.On(handlers.Create|handlers.Resume, "make", func(context.Context, *handlers.Request[Claim]) error {
			if calls++; calls == 3 {
				return request.Permanent(errors.New("no disk"))
			}
			return nil
		}, handlers.Reports("Made"))
		c.Field("spec.size", "grow", func(context.Context, *handlers.Request[Claim]) error { return nil })
		h := drive(t, c)
		h.Apply(small)
		h.RunUntilSettled()
		edit(h, "size", int64(2))
		h.RunUntilSettled()
		h.Restart()
		h.RunUntilSettled()
		h.Writes(0)
		assert.Equal(t, 2, calls)
		h.Restart()
		h.RunUntilSettled()
		assert.Equal(t, "no disk", h.Condition("Claim small", "Made").Message, "a failure is reported")
		h.Restart()
		h.RunUntilSettled()
		assert.Equal(t, metav1.ConditionTrue, h.Condition("Claim small", "Made").Status, "and its end, too")
	})
}

func TestSeenAndTheFinalizer(t *testing.T) {
	t.Run("handlers 25: what a handler of events sets leaves the finalizer alone", testSeenAndTheFinalizer)
}

func testSeenAndTheFinalizer(t *testing.T) {
	c := handlers.New[Claim](claims)
	c.Seen("seen", func(_ context.Context, r *handlers.Request[Claim]) error {
		r.Update(func(c *Claim) { c.Status.Volume = c.Spec.Mode })
		return nil
	})
	c.On(handlers.Delete, "delete", func(context.Context, *handlers.Request[Claim]) error { return nil })
	h := drive(t, c)
	h.Apply(small)
	h.RunUntilSettled()
	h.Writes(1) // the finalizer
	edit(h, "mode", "fast")
	h.RunUntilSettled()
	h.Writes(1) // the status
	assert.NotEmpty(t, h.Get("Claim small").GetFinalizers())
}

func TestWaiting(t *testing.T) {
	t.Run("handlers 104: a wait is no attempt of MaxAttempts, also after a restart, and its time grows", testWaits)
	t.Run("handlers 104: Within ends a wait", testWaitsTooLong)
	t.Run("handlers 104: a timer that waits doesn't use up its attempts", testTimerWaits)
	t.Run("handlers 95: what waits is no warning, what fails is one", func(t *testing.T) {
		var reasons []string
		sink := event.Func(func(e event.Event) { reasons = append(reasons, string(e.Type)+" "+e.Reason+" "+e.Note) })
		calls := 0
		c := handlers.New[Claim](claims)
		c.On(handlers.Create, "wait", func(context.Context, *handlers.Request[Claim]) error {
			if calls++; calls < 3 {
				return request.Precondition("no disk is free")
			}
			return errors.New("no disk")
		}, handlers.MaxAttempts(2), handlers.Reports("Made"))
		h := reconciletest.Drive(t, c, reconciletest.Events(sink))
		h.Apply(small)
		h.RunUntilSettled()
		h.Advance(time.Minute)
		assert.Equal(t, 4, calls)
		assert.Equal(t, []string{"Warning HandlerFailed wait: no disk", "Warning HandlerGivenUp wait: given up after 2 attempts: no disk"}, reasons)
	})
}

func testWaits(t *testing.T) {
	var j journal
	wait, boom := request.Precondition("no disk is free"), errors.New("boom")
	c := handlers.New[Claim](claims)
	c.On(handlers.Create, "wait", j.noting("wait", wait, wait, boom, wait, wait), handlers.MaxAttempts(2))
	h := drive(t, c)
	h.Apply(small)
	h.Advance(time.Second)
	assert.Len(t, j.taken(), 2)
	h.Restart()
	h.Advance(2 * time.Second)
	assert.Len(t, j.taken(), 1)
	h.Advance(3 * time.Second)
	assert.Empty(t, j.taken(), "the next time is four seconds")
	h.Advance(time.Hour)
	assert.Len(t, j.taken(), 3, "two waits and a success")
	assert.NotContains(t, h.Get("Claim small").GetAnnotations()[recordKey], "cycle")
}

func testWaitsTooLong(t *testing.T) {
	var j journal
	wait := request.RetryAfter(25*time.Minute, request.Precondition("no disk is free"))
	c := handlers.New[Claim](claims)
	c.On(handlers.Create, "wait", j.noting("wait", wait, wait, wait, wait), handlers.Within(time.Hour), handlers.Reports("Made"))
	h := drive(t, c)
	h.Apply(small)
	h.Advance(24 * time.Hour)
	assert.Len(t, j.taken(), 3)
	assert.Contains(t, h.Condition("Claim small", "Made").Message, "no disk is free")
	assert.NotContains(t, h.Get("Claim small").GetAnnotations()[recordKey], "cycle", "it is given up")
}

func testTimerWaits(t *testing.T) {
	var j journal
	wait, boom := request.RetryAfter(time.Minute, request.Precondition("no disk is free")), request.RetryAfter(time.Minute, errors.New("boom"))
	c := handlers.New[Claim](claims)
	c.Timer("tick", time.Hour, j.noting("tick", wait, wait, wait, boom, wait, boom), handlers.MaxAttempts(2))
	h := drive(t, c)
	h.Apply(small)
	h.Advance(30 * time.Minute)
	assert.Len(t, j.taken(), 6, "four waits, two failures")
	h.Advance(time.Hour)
	assert.Len(t, j.taken(), 1)
}
