package reconcile

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/internal/testlog"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/standing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestPauseInTheStatus(t *testing.T) {
	t.Parallel()
	unavailable := &deploy.UnavailableError{Err: errors.New("connection refused")}
	t.Run("with NoStatus it isn't told", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.pause("true")
		r := w.reconciler(room(), Status(NoStatus))
		assert.Empty(t, w.calm(r))
		assert.Equal(t, 1, r.Tally().Resources[standing.Paused])
		w.mergeStatus(widgetRef, `{"status":{"conditions":[{"type":"Paused","status":"True","reason":"Paused"}]}}`)
		w.unpause()
		assert.Equal(t, []string{"apply ConfigMap shop/c"}, w.calm(r))
		assert.True(t, w.isPaused(), "nor taken off")
		assert.Equal(t, 1, strings.Count(w.logs.String(), "\n"), w.logs.String())
		assert.Len(t, w.ended(), 1)
	})
	t.Run("a dry run doesn't rest", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.pause("true")
		r := w.reconciler(room(), DryRun())
		assert.Equal(t, []string{"apply ConfigMap shop/c", writeStatus}, w.calm(r))
		assert.False(t, w.isPaused())
		assert.Zero(t, r.Tally().Resources[standing.Paused])
	})
	t.Run("a kind without a status is asked once", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.refuse = refusing(&deploy.NotFoundError{Ref: widgetRef}, writeStatus)
		w.pause("true")
		r := w.reconciler(room())
		calls, result, err := w.once(r)
		require.NoError(t, err)
		assert.Equal(t, []string{writeStatus, "get Widget shop/w"}, calls)
		assert.Equal(t, request.Result{}, result)
		assert.Contains(t, w.logs.String(), "no status subresource")
		assert.Empty(t, w.calm(r))
		assert.Equal(t, 1, w.logs.Count("status not written"))
		assert.Equal(t, 1, r.Tally().Resources[standing.Paused], "it is paused all the same")
	})
	t.Run("one that knows no conditions is asked once", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.drops = []string{"conditions"}
		w.pause("true")
		r := w.reconciler(room())
		assert.Equal(t, []string{writeStatus}, w.calm(r))
		assert.Empty(t, w.calm(r))
		w.pause("TRUE")
		assert.Empty(t, w.calm(r), "also for another pause")
		assert.Equal(t, 1, w.logs.Count("drops fields of the status"))
	})
	t.Run("conditions that are none are written over", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.mergeStatus(widgetRef, `{"status":{"conditions":{"Ready":"yes"}}}`)
		w.pause("true")
		r := w.reconciler(room())
		assert.Equal(t, []string{writeStatus}, w.calm(r))
		assert.True(t, w.isPaused())
		assert.Empty(t, w.calm(r))
	})
	t.Run("what can't be written now is written later", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.refuse = refusing(unavailable, writeStatus)
		w.pause("2030-01-02T03:04:36Z")
		r := w.reconciler(room(), Recheck(20*time.Second), Period(0))
		_, result, err := w.once(r)
		require.NoError(t, err)
		assert.Equal(t, request.Result{RequeueAfter: 20 * time.Second}, result)
		w.clock.advance(19 * time.Second)
		_, result, err = w.once(r)
		require.NoError(t, err)
		assert.Equal(t, request.Result{RequeueAfter: 10 * time.Second}, result, "but not later than the pause ends")
		w.refuse = nil
		assert.Equal(t, []string{writeStatus}, w.calm(r))
		assert.True(t, w.isPaused())
	})
	t.Run("a shutdown is no problem of the status", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		ctx, cancel := context.WithCancel(t.Context())
		w.refuse = func(string) error { cancel(); return context.Canceled }
		w.pause("true")
		_, err := w.reconciler(room()).Reconcile(ctx, widgetRequest)
		require.ErrorIs(t, err, context.Canceled)
		assert.Empty(t, w.logs.String())
	})
	t.Run("who takes the condition off isn't argued with", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.pause("true")
		r := w.reconciler(room())
		w.calm(r)
		w.mergeStatus(widgetRef, `{"status":null}`)
		assert.Empty(t, w.calm(r))
		w.unpause()
		w.calm(r)
		w.pause("true")
		assert.Equal(t, []string{writeStatus}, w.calm(r), "another pause is told again")
	})
	t.Run("a condition of that name that is somebody else's stays", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		r := w.reconciler(room())
		w.calm(r)
		for _, theirs := range []metav1.Condition{
			{Type: ConditionPaused, Status: metav1.ConditionFalse, Reason: "NotPaused"},
			{Type: ConditionPaused, Status: metav1.ConditionFalse, Reason: ReasonPaused},
			{Type: ConditionPaused, Status: metav1.ConditionTrue, Reason: "ByTheirs"},
		} {
			w.mergeStatus(widgetRef, fmt.Sprintf(`{"status":{"conditions":[{"type":%q,"status":%q,"reason":%q}]}}`, theirs.Type, theirs.Status, theirs.Reason))
			assert.Equal(t, []string{writeStatus}, w.calm(r), "the others are put back")
			assert.Equal(t, theirs.Reason, w.condition(ConditionPaused).Reason)
			assert.Equal(t, theirs.Status, w.condition(ConditionPaused).Status)
			assert.Empty(t, w.calm(r))
		}
	})
	t.Run("a successor of the same name is told for itself", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.pause("true")
		r := w.reconciler(room())
		w.calm(r)
		w.delete(widgetRef)
		successor := widget()
		successor.SetUID("")
		successor.SetAnnotations(map[string]string{"operkit.dev/pause-execution": "true"})
		_, err := w.memory.Port().Create(t.Context(), successor, deploy.CreateOptions{FieldManager: "somebody"})
		require.NoError(t, err)
		assert.Equal(t, []string{writeStatus}, w.calm(r))
		assert.Equal(t, 1, r.Tally().Resources[standing.Paused])
	})
}

// A kind whose schema is enforced, as a server does it.
func TestPauseUnderASchema(t *testing.T) {
	t.Parallel()
	definition := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": "widgets.example.dev"},
		"spec": map[string]any{
			"group": "example.dev", "scope": "Namespaced", "names": map[string]any{"plural": "widgets", "kind": "Widget"},
			"versions": []any{map[string]any{"name": "v1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "properties": map[string]any{
					"spec": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true},
				}}},
			}},
		},
	}}
	memory, err := dryrun.New(dryrun.Objects(definition, widget()), dryrun.Namespaces("shop"))
	require.NoError(t, err)
	w := &world{recorder: &recorder{memory: memory}, t: t, clock: &clock{now: time.Unix(math.MaxInt32, 0)}, logs: &testlog.Text{}}
	w.pause("true")
	r := w.reconciler(room())
	assert.Equal(t, []string{writeStatus, "get Widget shop/w"}, w.calm(r))
	assert.Contains(t, w.logs.String(), "no status subresource")
	assert.Empty(t, w.calm(r), "a kind without a status is asked once")
}
