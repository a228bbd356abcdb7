package handlers_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/handlers"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// keeping is the definition of the claims with a field for the record, and dropping one whose schema drops it.
var (
	keeping  = strings.Replace(strict, "properties: {volume:", "properties: {handled: {type: string}, volume:", 1)
	dropping = strings.Replace(strict, "status: {type: object, x-kubernetes-preserve-unknown-fields: true, ", "status: {type: object, ", 1)
)

func TestRecordInStatus(t *testing.T) {
	t.Run("handlers 97: an object that is replaced isn't handled as a new one", testReplaced)
	t.Run("handlers 97: a record in the annotation counts until there is one in the status", testMovedRecord)
	t.Run("handlers 97: a record that is removed makes the object a new one", testRemovedRecord)
	t.Run("handlers 98: no handler is called if the schema drops the record", testDroppedRecord)
	t.Run("handlers 98: a kind without a status can't keep the record", testNoStatus)
	t.Run("handlers 98: a deletion doesn't need the record", testDroppedAtDeletion)
	t.Run("handlers 99: the record is written after what the handler has set", testRecordLast)
}

// recording returns handlers that keep their record in status.handled.
func recording(j *journal) *handlers.Handlers[Claim] {
	c := handlers.New[Claim](claims, handlers.RecordInStatus("handled"))
	c.On(handlers.Create, "create", j.noting("create"))
	c.On(handlers.Update, "update", j.noting("update"))
	c.On(handlers.Delete, "delete", j.noting("delete"))
	return c
}

func claimed(t *testing.T, c *handlers.Handlers[Claim], definition string) *reconciletest.Harness {
	return reconciletest.Drive(t, c, reconciletest.Memory(dryrun.Objects(object(t, definition))))
}

func recordIn(h *reconciletest.Harness) string {
	status, _ := h.Get("Claim small").Object["status"].(map[string]any)
	text, _ := status["handled"].(string)
	return text
}

// replace replaces the claim as `kubectl replace` does.
func replace(h *reconciletest.Harness) {
	h.Edit("Claim small", func(obj *unstructured.Unstructured) {
		obj.SetAnnotations(nil)
		obj.SetFinalizers(nil)
	})
}

func testReplaced(t *testing.T) {
	var j journal
	h := claimed(t, recording(&j), keeping)
	h.Apply(small)
	h.RunUntilSettled()
	h.Writes(3) // the finalizer, the proof that the record is kept, and the record
	assert.Equal(t, []string{"create create"}, j.taken())
	assert.Empty(t, h.Get("Claim small").GetAnnotations())
	assert.Contains(t, recordIn(h), `"digest"`)
	h.RunUntilSettled()
	h.Writes(0)
	replace(h)
	h.RunUntilSettled()
	assert.Empty(t, j.taken())
	h.Writes(1)
	assert.Equal(t, []string{"operkit.dev/operkit"}, h.Get("Claim small").GetFinalizers())
	edit(h, "size", int64(2))
	h.RunUntilSettled()
	h.Writes(1)
	assert.Equal(t, []string{"update update, change .spec.size: 1 -> 2"}, j.taken())
	h.Restart()
	h.RunUntilSettled()
	h.Writes(0)
	assert.Empty(t, j.taken())
	h.Delete("Claim small")
	h.RunUntilSettled()
	h.Writes(1)
	assert.Equal(t, []string{"delete delete"}, j.taken())
	h.Gone("Claim small")
}

func testMovedRecord(t *testing.T) {
	var j journal
	before := handlers.New[Claim](claims)
	before.On(handlers.Create, "create", j.noting("create"))
	after, isAfter := recording(&j), false
	h := reconciletest.Drive(t, either{before, after, &isAfter}, reconciletest.Memory(dryrun.Objects(object(t, keeping))))
	h.Apply(small)
	h.RunUntilSettled()
	assert.Equal(t, []string{"create create"}, j.taken())
	isAfter = true
	h.Restart()
	edit(h, "size", int64(2))
	h.RunUntilSettled()
	assert.Equal(t, []string{"update update, change .spec.size: 1 -> 2"}, j.taken())
	assert.NotEmpty(t, recordIn(h))
}

func testRemovedRecord(t *testing.T) {
	var j journal
	h := claimed(t, recording(&j), keeping)
	h.Apply(small)
	h.RunUntilSettled()
	j.taken()
	h.SetStatus("Claim small", map[string]any{"handled": nil})
	h.RunUntilSettled()
	assert.Equal(t, []string{"create create"}, j.taken())
}

func testDroppedRecord(t *testing.T) {
	var j journal
	h := claimed(t, recording(&j), dropping)
	h.Apply(small)
	_, err := h.Reconcile("Claim small")
	require.ErrorContains(t, err, "handlers of Claim: the CustomResourceDefinition drops the field status.handled, in which the record is kept, so no handler is called: add it to its schema, with type: string")
	h.Writes(2) // the finalizer, and the attempt to keep the record
	h.Advance(time.Minute)
	h.Writes(0)
	assert.Empty(t, j.taken())
	h.Apply(object(t, keeping))
	h.Advance(10 * time.Minute)
	assert.Equal(t, []string{"create create"}, j.taken())
	assert.NotEmpty(t, recordIn(h))
}

func testNoStatus(t *testing.T) {
	var j journal
	h := claimed(t, recording(&j), strings.Replace(keeping, "subresources: {status: {}}", "", 1))
	h.Apply(small)
	_, err := h.Reconcile("Claim small")
	require.ErrorContains(t, err, "the record of handlers can't be kept in the field status.handled, so no handler is called: ")
	assert.Empty(t, j.taken())
}

// testDroppedAtDeletion deletes a claim when the schema drops the record, with a handler that fails once: the other one
// isn't called again.
func testDroppedAtDeletion(t *testing.T) {
	var j journal
	fails := true
	c := recording(&j)
	c.On(handlers.Delete, "again", func(context.Context, *handlers.Request[Claim]) error {
		if fails {
			return errors.New("not yet")
		}
		return nil
	})
	h := claimed(t, c, dropping)
	h.Apply(strings.Replace(small, "name: small", "name: small, finalizers: [operkit.dev/operkit]", 1))
	h.Delete("Claim small")
	h.Advance(time.Minute)
	assert.Equal(t, []string{"delete delete"}, j.taken())
	fails = false
	h.Advance(time.Minute)
	assert.Empty(t, j.taken())
	h.Gone("Claim small")
}

func testRecordLast(t *testing.T) {
	c := handlers.New[Claim](claims, handlers.RecordInStatus("handled"))
	c.On(handlers.Delete, "delete", func(context.Context, *handlers.Request[Claim]) error { return nil })
	c.On(handlers.Create, "label", func(_ context.Context, r *handlers.Request[Claim]) error {
		r.Update(func(c *Claim) { c.Labels, c.Status.Volume = map[string]string{"made": "yes"}, "v" })
		return nil
	})
	h := claimed(t, c, keeping)
	h.Apply(small)
	h.RunUntilSettled()
	var changed []string
	for _, call := range h.Calls() {
		if call.Write() {
			changed = append(changed, call.Subresource)
		}
	}
	assert.Equal(t, []string{"", "status", "", "status", "status"}, changed,
		"the finalizer, the proof, the label, the record, and that of the update that the label is")
}

// either makes the reconciler of one of two Controllers.
type either struct {
	*handlers.Handlers[Claim]
	after   *handlers.Handlers[Claim]
	isAfter *bool
}

func (e either) Reconciler(ctx context.Context, env watch.Env) (watch.Reconciler, error) {
	if *e.isAfter {
		return e.after.Reconciler(ctx, env)
	}
	return e.Handlers.Reconciler(ctx, env)
}

func TestRecordInStatusMistakes(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason, field, want string
		opts                []handlers.KindOption
	}{
		{"no field", "", `record in status: field "": use the name of a field`, nil},
		{"a path", "a.b", `record in status: field "a.b": use the name of a field`, nil},
		{"a field of others", "conditions", `record in status: field "conditions": use the name of a field`, nil},
		{"the result of a handler", "create", `handler "create": its result would replace the record`, nil},
		{"no record", "handled", "record in status: Stateless keeps no record", []handlers.KindOption{handlers.Stateless()}},
	} {
		t.Run("handlers 100: "+row.reason, func(t *testing.T) {
			t.Parallel()
			c := handlers.New[Claim](claims, append(row.opts, handlers.RecordInStatus(row.field))...)
			c.On(handlers.Create, "create", func(context.Context, *handlers.Request[Claim]) error { return nil })
			_, err := c.Reconciler(t.Context(), newEnv(t))
			assert.ErrorContains(t, err, row.want)
		})
	}
}

// RecordInStatus keeps what was handled when somebody replaces the object: nothing is ordered twice.
func ExampleRecordInStatus() {
	c := handlers.New[Claim](claims, handlers.RecordInStatus("handled"))
	c.On(handlers.Create, "order", func(_ context.Context, r *handlers.Request[Claim]) error {
		fmt.Println("ordered", r.Object.Name)
		return nil
	})
	h := reconciletest.Drive(console{}, c)
	h.Apply(small)
	h.RunUntilSettled()
	h.Edit("Claim small", func(obj *unstructured.Unstructured) { obj.SetAnnotations(nil) })
	h.RunUntilSettled()
	h.Writes(0)
	// Output: ordered small
}
