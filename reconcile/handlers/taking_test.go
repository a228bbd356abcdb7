package handlers_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/handlers"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// updating returns handlers that write each cause into the journal.
func updating(j *journal, opts ...handlers.KindOption) *handlers.Handlers[Claim] {
	c := handlers.New[Claim](claims, opts...)
	c.On(handlers.Create|handlers.Update|handlers.Resume|handlers.Delete, "all", j.noting("all"))
	return c
}

func TestTakingOver(t *testing.T) {
	t.Run("handlers 21: a copy is a new object", testCopy)
	t.Run("handlers 21: a record that can't be read is left alone, and blocks no deletion", testBroken)
	t.Run("handlers 34: from a kopf operator", testFromKopf)
	t.Run("handlers 35: without a record", testStateless)
	t.Run("handlers 36: a paused object isn't handled", testPaused)
	t.Run("handlers 38: a former id goes on", testFormerly)
	t.Run("handlers 92: a cron under a former id isn't called twice", testFormerCron)
	t.Run("handlers 39: two operators of one kind", testTwoOperators)
}

// after lets a harness begin with the objects of another one.
func after(h *reconciletest.Harness) reconciletest.Option {
	return reconciletest.Memory(dryrun.Objects(h.Memory().Objects()...))
}

func testCopy(t *testing.T) {
	var j journal
	h := drive(t, updating(&j))
	h.Apply(small)
	h.RunUntilSettled()
	copied := h.Get("Claim small").DeepCopy()
	copied.SetName("copied")
	copied.SetUID("")
	copied.SetResourceVersion("")
	copied.SetManagedFields(nil)
	h.Apply(copied)
	h.RunUntilSettled()
	assert.Equal(t, []string{"all create", "all create"}, j.taken())
}

func testBroken(t *testing.T) {
	var j journal
	h := drive(t, updating(&j))
	h.Apply(small)
	h.RunUntilSettled()
	j.taken()
	h.Edit("Claim small", func(obj *unstructured.Unstructured) { obj.SetAnnotations(map[string]string{recordKey: "{broken"}) })
	edit(h, "size", int64(2))
	_, err := h.Reconcile("Claim small")
	assert.ErrorContains(t, err, "Claim test/small: annotation "+recordKey+": record of handlers: ")
	assert.ErrorContains(t, err, ": remove the annotation to have the object handled as a new one")
	assert.Empty(t, j.taken())
	h.Delete("Claim small")
	h.RunUntilSettled()
	assert.Equal(t, []string{"all delete"}, j.taken())
	h.Gone("Claim small")
}

func testFromKopf(t *testing.T) {
	const ofKopf = `
apiVersion: example.dev/v1
kind: Claim
metadata:
  name: small
  finalizers: [kopf.zalando.org/KopfFinalizerMarker]
  annotations:
    kopf.zalando.org/last-handled-configuration: |
      {"spec":{"size":1}}
spec: {}`
	for _, row := range []struct{ reason, size, want string }{
		{"unchanged since then: it isn't created anew", "1", "all resume"},
		{"changed while no operator ran", "2", "all update, change .spec.size: 1 -> 2"},
	} {
		var j journal
		h := drive(t, updating(&j, handlers.FromKopf("", "")))
		claim := object(t, ofKopf)
		require.NoError(t, unstructured.SetNestedField(claim.Object, map[string]any{"size": int64(row.size[0] - '0')}, "spec"))
		h.Apply(claim)
		h.RunUntilSettled()
		assert.Equal(t, []string{row.want}, j.taken(), row.reason)
		h.Writes(1)
		assert.Equal(t, []string{"kopf.zalando.org/KopfFinalizerMarker"}, h.Get("Claim small").GetFinalizers(), "it holds the object")
		h.Restart()
		h.RunUntilSettled()
		assert.Equal(t, []string{"all resume"}, j.taken())
		h.Delete("Claim small")
		h.RunUntilSettled()
		assert.Equal(t, []string{"all delete"}, j.taken())
		h.Gone("Claim small")
	}
}

func testStateless(t *testing.T) {
	var j journal
	h := drive(t, updating(&j, handlers.Stateless(), handlers.Finalizer("example.dev/mine")))
	h.Apply(small)
	h.RunUntilSettled()
	assert.Empty(t, h.Get("Claim small").GetAnnotations())
	edit(h, "size", int64(2))
	h.RunUntilSettled()
	h.Writes(0)
	h.Restart()
	h.RunUntilSettled()
	h.Writes(0)
	assert.Equal(t, []string{"all create", "all update, change .spec.size: 1 -> 2", "all resume"}, j.taken())
}

func testPaused(t *testing.T) {
	var j journal
	h := drive(t, updating(&j))
	h.Apply(small)
	h.RunUntilSettled()
	j.taken()
	pause := func(value string) {
		h.Edit("Claim small", func(obj *unstructured.Unstructured) {
			annotations := obj.GetAnnotations()
			if annotations["operkit.dev/pause-execution"] = value; value == "" {
				delete(annotations, "operkit.dev/pause-execution")
			}
			obj.SetAnnotations(annotations)
		})
	}
	pause("true")
	edit(h, "size", int64(2))
	h.RunUntilSettled()
	h.Writes(0) // without Reports the conditions belong to others
	assert.Empty(t, j.taken())
	pause("")
	h.RunUntilSettled()
	assert.Equal(t, []string{"all update, change .spec.size: 1 -> 2"}, j.taken())
}

func testFormerly(t *testing.T) {
	var j journal
	boom := errors.New("boom")
	begun := handlers.New[Claim](claims)
	begun.On(handlers.Create, "old", j.noting("old", boom, boom), handlers.Backoff(time.Minute))
	h := drive(t, begun)
	h.Apply(small)
	h.Advance(0)
	renamed := handlers.New[Claim](claims)
	renamed.On(handlers.Create, "new", func(_ context.Context, r *handlers.Request[Claim]) error {
		j.write("new, attempt %d", r.Attempt)
		return nil
	}, handlers.Formerly("old"))
	next := reconciletest.Drive(t, renamed, after(h))
	next.Advance(59 * time.Second)
	assert.Equal(t, []string{"old create"}, j.taken())
	next.Advance(2 * time.Second)
	assert.Equal(t, []string{"new, attempt 2"}, j.taken())
}

func testFormerCron(t *testing.T) {
	var j journal
	often := func(id string, opts ...handlers.Option) *handlers.Handlers[Claim] {
		c := handlers.New[Claim](claims)
		c.Cron(id, "*/20 * * * *", j.noting(id), opts...)
		return c
	}
	h := drive(t, often("old"))
	h.Apply(small)
	h.Advance(45 * time.Minute)
	assert.Len(t, j.taken(), 2)
	next := reconciletest.Drive(t, often("new", handlers.Formerly("old")), after(h))
	next.Advance(50 * time.Minute)
	assert.Empty(t, j.taken(), "the clock of a harness begins anew: the moments until 03:40 were called under the former id")
	next.Advance(15 * time.Minute)
	assert.Len(t, j.taken(), 1)
	text := next.Get("Claim small").GetAnnotations()[recordKey]
	assert.Contains(t, text, `"new"`)
	assert.NotContains(t, text, `"old"`)
}

func testTwoOperators(t *testing.T) {
	var one, two journal
	cluster := reconciletest.Drive(t, updating(&one))
	cluster.Apply(small)
	cluster.RunUntilSettled()
	other := reconciletest.Drive(t, updating(&two), after(cluster), reconciletest.Manager(deploy.FieldManager("other")))
	other.RunUntilSettled()
	assert.Equal(t, []string{"all create"}, two.taken(), "each has a record of its own")
	assert.Equal(t, []string{"operkit.dev/operkit", "operkit.dev/other"}, other.Get("Claim small").GetFinalizers())
	back := reconciletest.Drive(t, updating(&one), after(other))
	back.RunUntilSettled()
	assert.Equal(t, []string{"all create", "all resume"}, one.taken(), "the other's record is no change")
	back.Writes(0)
}
