package handlers_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/handlers"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// wrong is an object that a Claim can't hold.
var wrong = strings.Replace(small, "size: 1", "size: 1Gi", 1)

func TestUnreadable(t *testing.T) {
	t.Run("handlers 102: it is left alone, and handled as a new one once it is corrected", testUnreadable)
	t.Run("handlers 102: nothing of an object that was handled is lost", testUnreadableLater)
	t.Run("handlers 102: a change that is taken back leaves no condition behind", testUnreadableReturn)
	t.Run("handlers 102: after a change that is taken back a handler that fails is called again", testUnreadableRetried)
	t.Run("handlers 102: a condition goes when its handler isn't about the object any more", testUnreadableUnseen)
	t.Run("handlers 103: the deletion waits for the correction", testUnreadableDeleted)
	t.Run("handlers 103: a filter that can't read it doesn't release it", testUnreadableFilter)
	t.Run("handlers 103: without a handler that is to be called the deletion goes on", testUnreadableReleased)
	inBubble(t, "handlers 102: no daemon is started, and one that runs goes on", func(d *daemonic, c *handlers.Handlers[Claim]) {
		c.Daemon("measure", d.run(0), handlers.When(func(*Claim) bool { return true }))
	}, func(d *daemonic) {
		assert.Equal(d.t, []string{"begins"}, d.after(0))
		edit(d.Harness, "size", "1Gi")
		assert.Equal(d.t, []string{"size 1"}, d.after(time.Minute), "it has the last state that it can read")
		d.Restart()
		assert.Equal(d.t, []string{"ends: the operator ends"}, d.after(0))
		edit(d.Harness, "size", int64(2))
		assert.Equal(d.t, []string{"begins"}, d.after(0))
		edit(d.Harness, "size", "1Gi")
		d.Delete("Claim small")
		assert.Equal(d.t, []string{"ends: the object is being deleted"}, d.after(0))
		d.Gone("Claim small")
	})
}

// unreadable returns a harness with a handler of each kind, and the events that are recorded.
func unreadable(t *testing.T, j *journal) *daemonic {
	c := handlers.New[Claim](claims)
	c.On(handlers.Create, "create", j.noting("create"), handlers.Reports("Created"))
	c.On(handlers.Update, "update", j.noting("update"), handlers.Reports("Updated"), handlers.Label("tier", handlers.Equal("silver")))
	c.On(handlers.Delete, "delete", j.noting("delete"))
	c.Timer("tick", time.Hour, j.noting("tick"))
	d := &daemonic{t: t}
	d.Harness = reconciletest.Drive(t, c, reconciletest.Events(d))
	return d
}

func testUnreadable(t *testing.T) {
	var j journal
	h := unreadable(t, &j)
	h.Apply(wrong)
	h.RunUntilSettled()
	assert.Empty(t, j.taken())
	h.Writes(1) // the condition
	created := h.Condition("Claim small", "Created")
	assert.Equal(t, metav1.ConditionFalse, created.Status)
	assert.Contains(t, created.Message, "spec.size: handlers_test.Claim can't hold a string there")
	assert.Contains(t, created.Message, "no handler is called for it: correct the object")
	assert.NotEqual(t, metav1.ConditionFalse, h.Condition("Claim small", "Updated").Status, "its handler isn't about the object")
	assert.Empty(t, h.Get("Claim small").GetFinalizers())
	require.Len(t, h.warnings(), 1)
	assert.Contains(t, h.warnings()[0], "ObjectUnreadable: Claim test/small: spec.size: ")

	_, err := h.Reconcile("Claim small")
	assert.True(t, request.IsPermanent(err), err)
	h.Advance(2 * time.Hour)
	h.Writes(0)
	assert.Len(t, h.warnings(), 1, "an error is told once")

	edit(h.Harness, "size", int64(2))
	h.Advance(0)
	assert.Equal(t, []string{"create create", "tick "}, j.taken())
	assert.Equal(t, metav1.ConditionTrue, h.Condition("Claim small", "Created").Status)
}

func testUnreadableLater(t *testing.T) {
	var j journal
	h := unreadable(t, &j)
	h.Apply(strings.Replace(small, "gold", "silver", 1))
	h.Advance(0)
	assert.Equal(t, []string{"create create", "tick "}, j.taken())
	record := h.Get("Claim small").GetAnnotations()[recordKey]
	edit(h.Harness, "size", "1Gi")
	h.Advance(0)
	require.Len(t, h.warnings(), 1)
	h.Restart()
	h.Advance(2 * time.Hour)
	assert.Empty(t, j.taken())
	assert.Len(t, h.warnings(), 2, "each process tells it")
	assert.Equal(t, record, h.Get("Claim small").GetAnnotations()[recordKey])
	assert.Equal(t, []string{"operkit.dev/operkit"}, h.Get("Claim small").GetFinalizers())
	assert.Equal(t, metav1.ConditionFalse, h.Condition("Claim small", "Updated").Status)
	edit(h.Harness, "size", int64(2))
	h.Advance(0)
	assert.Equal(t, []string{"update update, change .spec.size: 1 -> 2", "tick "}, j.taken())
}

func testUnreadableReturn(t *testing.T) {
	for _, restarts := range []bool{false, true} {
		var j journal
		c := handlers.New[Claim](claims)
		c.On(handlers.Create|handlers.Update, "all", j.noting("all"), handlers.Reports("Made"))
		c.On(handlers.Create, "create", j.noting("create"), handlers.Reports("Created"))
		c.On(handlers.Update, "silent", j.noting("silent"))
		h := drive(t, c)
		h.Apply(small)
		h.Advance(0)
		j.taken()
		edit(h, "size", "1Gi")
		h.Advance(0)
		assert.Equal(t, "ObjectUnreadable", h.Condition("Claim small", "Made").Reason)
		assert.Equal(t, metav1.ConditionTrue, h.Condition("Claim small", "Created").Status, "it isn't to be called")
		if restarts {
			h.Restart()
			h.Advance(0)
		}
		edit(h, "size", int64(1))
		h.Advance(0)
		assert.Equal(t, []string{"all update", "silent update"}, j.taken())
		assert.Equal(t, metav1.ConditionTrue, h.Condition("Claim small", "Made").Status)
		h.RunUntilSettled()
		h.Calls()
		h.Bring("Claim small")
		h.RunUntilSettled()
		h.Writes(0)
		assert.Empty(t, j.taken())
	}
}

func testUnreadableRetried(t *testing.T) {
	boom := errors.New("boom")
	for _, restarts := range []bool{false, true} {
		var j journal
		c := handlers.New[Claim](claims)
		c.On(handlers.Update, "ends", j.noting("ends"))
		c.Field("spec.size", "resize", j.noting("resize", boom, boom), handlers.Reports("Sized"), handlers.Backoff(time.Minute))
		h := drive(t, c)
		h.Apply(small)
		h.Advance(0)
		edit(h, "size", "1Gi")
		h.Advance(0)
		require.Equal(t, "ObjectUnreadable", h.Condition("Claim small", "Sized").Reason)
		edit(h, "size", int64(1))
		h.Advance(0)
		assert.Equal(t, []string{"ends update", "resize update"}, j.taken())
		if restarts {
			h.Restart()
		}
		h.Advance(time.Minute)
		assert.Equal(t, []string{"resize update"}, j.taken())
		h.Advance(time.Hour)
		assert.Equal(t, []string{"resize update"}, j.taken())
		assert.Equal(t, metav1.ConditionTrue, h.Condition("Claim small", "Sized").Status)
		h.Restart()
		h.Advance(time.Hour)
		h.Writes(0)
		assert.Empty(t, j.taken())
	}
}

func testUnreadableUnseen(t *testing.T) {
	var j journal
	c := handlers.New[Claim](claims)
	c.On(handlers.Update, "silver", j.noting("silver"), handlers.Reports("Updated"), handlers.Label("tier", handlers.Equal("silver")))
	c.On(handlers.Update, "any", j.noting("any"))
	h := drive(t, c)
	h.Apply(strings.Replace(small, "gold", "silver", 1))
	h.Advance(0)
	edit(h, "size", "1Gi")
	h.Advance(0)
	stale := h.Get("Claim small").Object["status"].(map[string]any)
	require.Equal(t, "ObjectUnreadable", h.Condition("Claim small", "Updated").Reason)
	h.Edit("Claim small", func(obj *unstructured.Unstructured) {
		obj.SetLabels(map[string]string{"tier": "gold"})
		require.NoError(t, unstructured.SetNestedField(obj.Object, int64(2), "spec", "size"))
	})
	h.Advance(0)
	assert.Equal(t, metav1.ConditionUnknown, h.Condition("Claim small", "Updated").Status)
	assert.Len(t, j.taken(), 1)
	h.SetStatus("Claim small", stale) // as a process before may have left it
	h.Restart()
	h.Advance(0)
	assert.Equal(t, metav1.ConditionUnknown, h.Condition("Claim small", "Updated").Status)
	assert.Empty(t, j.taken(), "it is no update")
	h.Restart()
	h.Advance(0)
	h.Writes(0)
}

func testUnreadableDeleted(t *testing.T) {
	var j journal
	h := unreadable(t, &j)
	h.Apply(small)
	h.Advance(0)
	j.taken()
	edit(h.Harness, "size", "1Gi")
	h.Advance(0)
	h.Delete("Claim small")
	h.Advance(24 * time.Hour)
	assert.Empty(t, j.taken())
	h.Exists("Claim small")
	require.Len(t, h.warnings(), 2)
	assert.Contains(t, h.warnings()[1], "no handler is called for its deletion, so its finalizer stays: correct the object, or remove the finalizer by the operator's command release")
	edit(h.Harness, "size", int64(2))
	h.Advance(0)
	assert.Equal(t, []string{"delete delete"}, j.taken())
	h.Gone("Claim small")
}

func testUnreadableFilter(t *testing.T) {
	var j journal
	c := handlers.New[Claim](claims)
	c.On(handlers.Delete, "delete", j.noting("delete"), handlers.When(func(c *Claim) bool { return c.Spec.Size > 0 }))
	h := drive(t, c)
	h.Apply(small)
	h.Advance(0)
	edit(h, "size", "1Gi")
	h.Advance(0)
	assert.Equal(t, []string{"operkit.dev/operkit"}, h.Get("Claim small").GetFinalizers())
	h.Delete("Claim small")
	h.Advance(time.Hour)
	h.Exists("Claim small")
	h.Edit("Claim small", func(obj *unstructured.Unstructured) { obj.SetFinalizers(nil) }) // as the command release does
	h.Gone("Claim small")
	assert.Empty(t, j.taken())
}

func testUnreadableReleased(t *testing.T) {
	var j journal
	c := handlers.New[Claim](claims)
	c.On(handlers.Create, "create", j.noting("create"))
	c.On(handlers.Delete, "delete", j.noting("delete"), handlers.Label("tier", handlers.Equal("gold")))
	h := drive(t, c)
	h.Apply(small)
	h.Advance(0)
	h.Edit("Claim small", func(obj *unstructured.Unstructured) {
		obj.SetLabels(nil)
		require.NoError(t, unstructured.SetNestedField(obj.Object, "1Gi", "spec", "size"))
	})
	h.Delete("Claim small")
	h.Advance(0)
	h.Gone("Claim small")
	assert.Equal(t, []string{"create create"}, j.taken())
}
