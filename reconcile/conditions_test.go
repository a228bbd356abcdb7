package reconcile

import (
	"cmp"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/testlog"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What each error that can end a reconcile makes of the conditions, on a resource that is
// rolled out and on one that never was.
func TestErrorsBecomeConditions(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		// setup fails Setup, apply the component's only object.
		setup, apply error
		// later is the verdict when the resource was Stable before, first when it is new.
		later, first string
		// waits: it is no failure.
		waits bool
		// prefix stands before the error's own text.
		prefix string
	}{
		{reason: "status 14: precondition leaves Ready alone", setup: request.Precondition("no %s yet", "node"),
			later: "Stable/PreconditionWait", first: "Initializing/PreconditionWait", waits: true, prefix: "setup: "},
		{reason: "status 14: config", setup: request.Configuration("spec.size: %d is odd", 3),
			later: "ConfigError/Errored", first: "ConfigError/Errored", prefix: "setup: "},
		{reason: "status 14: an unknown one", setup: errors.New("weird"),
			later: "Errored/Errored", first: "Errored/Errored", prefix: "setup: "},
		{reason: "status 14: a class shows through what wraps it", setup: request.Permanent(request.Configuration("odd")),
			later: "ConfigError/Errored", first: "ConfigError/Errored", prefix: "setup: "},
		{reason: "status 14: the most severe of several counts", setup: errors.Join(request.Precondition("wait"), errors.New("weird")),
			later: "Errored/Errored", first: "Errored/Errored", prefix: "setup: "},
		{reason: "status 14: cluster, asked by Setup", setup: forbidden("get", "pods"),
			later: "Stable/ClusterError", first: "Initializing/ClusterError",
			prefix: "setup: "},
		{reason: "status 14: cluster, fields of another manager", apply: &deploy.ConflictError{Ref: configMapRef("c"), Fields: []deploy.FieldConflict{{Field: ".data.key", Message: "kubectl"}}, Err: errors.New("no")},
			later: "Stable/ClusterError", first: "Initializing/ClusterError",
			prefix: "component c: "},
		{reason: "status 14: config, refused by the cluster", apply: &deploy.InvalidError{Ref: configMapRef("c"), Err: errors.New("too long")},
			later: "ConfigError/Errored", first: "ConfigError/Errored", prefix: "component c: "},
		{reason: "status 14: config, refused by admission with another code", apply: &deploy.ForbiddenError{Verb: "patch", Content: true, Err: errors.New("must support resize")},
			later: "ConfigError/Errored", first: "ConfigError/Errored", prefix: "component c: "},
		{reason: "status 14: an unknown one of the cluster", apply: errors.New("weird"),
			later: "Errored/Errored", first: "Errored/Errored", prefix: "component c: "},
		{reason: "status 14: verification leaves Ready InProgress", apply: &deploy.TerminatingError{Ref: configMapRef("c")},
			later: "InProgress/VerifyWait", first: "Initializing/VerifyWait", waits: true,
			prefix: "c: "},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			text := row.prefix + cmp.Or(row.setup, row.apply).Error()
			for _, stable := range []bool{false, true} {
				w := newWorld(t)
				var fail error
				r := w.reconciler(&controller{func(_ context.Context, s *Session) error {
					s.Add("c", configMap("c"))
					return fail
				}})
				want := row.first
				if stable {
					w.calm(r)
					require.Equal(t, "Stable/Stable", w.verdict())
					w.merge(configMapRef("c"), `{"data":{"key":"drifted"}}`)
					want = row.later
				}
				fail = row.setup
				w.refuse = refusing(row.apply, "apply ConfigMap shop/c")
				calls, result, err := w.once(r)
				assert.Equal(t, 1, count(calls, writeStatus), "one write of the status")
				assert.Equal(t, want, w.verdict())
				assert.Equal(t, text, w.message())
				if row.waits {
					require.NoError(t, err)
					assert.Equal(t, request.Result{RequeueAfter: time.Minute}, result, "it is looked at again")
				} else {
					assert.EqualError(t, err, text)
				}
				calls, _, _ = w.once(r)
				assert.Zero(t, count(calls, writeStatus), "reconcile 53: the same error again is nothing new")
			}
		})
	}
}

func count(calls []string, call string) (n int) {
	for _, made := range calls {
		if made == call {
			n++
		}
	}
	return n
}

func TestConditionsInDetail(t *testing.T) {
	t.Parallel()
	t.Run("status 28, mistake 27: times in UTC that move only with the condition's status", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		var fail error
		r := w.reconciler(&controller{func(context.Context, *Session) error { return fail }})
		w.calm(r)
		since := w.condition(status.ConditionReady).LastTransitionTime
		assert.Equal(t, metav1.Date(2030, 1, 2, 3, 4, 6, 0, time.UTC).Unix(), since.Unix())
		fail = request.Precondition("wait")
		w.calm(r)
		assert.Equal(t, since, w.condition(status.ConditionReady).LastTransitionTime)
	})
	t.Run("mistake 27: the generation that was looked at", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		r := w.reconciler(adding(func(*Session) {}))
		w.calm(r)
		w.merge(widgetRef, `{"spec":{"size":4}}`)
		assert.Equal(t, []string{writeStatus}, w.calm(r))
		assert.Equal(t, int64(2), w.condition(status.ConditionReady).ObservedGeneration)
		assert.Equal(t, int64(2), w.widget().Object["status"].(map[string]any)["observedGeneration"])
	})
	t.Run("reconcile 49, mistake 10: the reason before the first success stays Initializing, with a message that fits", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		var fail error
		r := w.reconciler(&controller{func(_ context.Context, s *Session) error { s.Add("d", deployment("d")); return fail }})
		fail = errors.New("weird")
		_, _, err := w.once(r)
		require.Error(t, err)
		assert.Equal(t, "Errored/Errored", w.verdict())
		fail = nil
		w.calm(r)
		assert.Equal(t, "Initializing/VerifyWait", w.verdict())
		assert.Equal(t, w.message(), w.condition(status.ConditionReady).Message)
		w.makeReady("d")
		w.calm(r)
		assert.Equal(t, "Stable/Stable", w.verdict())
		w.merge(deploymentRef("d"), `{"metadata":{"generation":null},"spec":{"paused":true}}`)
		w.mergeStatus(deploymentRef("d"), `{"status":{"observedGeneration":1,"readyReplicas":0,"availableReplicas":0}}`)
		w.calm(r)
		assert.Equal(t, "InProgress/VerifyWait", w.verdict(), "after it, it is InProgress")
	})
	t.Run("status 11: what is of no use in the present status is replaced, and said", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.mergeStatus(widgetRef, `{"status":{"conditions":[{"type":"Ready","status":"True","reason":"Stable","message":"","lastTransitionTime":"yesterday"}]}}`)
		w.calm(w.reconciler(adding(func(*Session) {})))
		assert.Equal(t, "Stable/Stable", w.verdict())
		assert.Contains(t, w.logs.String(), "yesterday")
	})
	t.Run("reconcile 51: conditions and fields of others stay", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.mergeStatus(widgetRef, `{"status":{"colour":"red","conditions":[{"type":"Painted","status":"True","reason":"Brush","message":"","lastTransitionTime":"2029-01-01T00:00:00Z"}]}}`)
		w.calm(w.reconciler(adding(func(*Session) {})))
		assert.Equal(t, "red", w.widget().Object["status"].(map[string]any)["colour"])
		assert.Equal(t, "Brush", w.condition("Painted").Reason)
	})
}

func TestPanics(t *testing.T) {
	t.Parallel()
	panicking := func(context.Context, *Session) error { panic("boom") }
	t.Run("reconcile 46: in Setup: the resource says so, the reconciler lives", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		calls, _, err := w.once(w.reconciler(&controller{panicking}))
		require.Error(t, err)
		assert.Regexp(t, `^setup: panic: boom \(conditions_test\.go:\d+\)$`, err.Error(), "the line is named")
		assert.Equal(t, err.Error(), w.message(), "in the condition, too")
		assert.Regexp(t, `msg=panic .*at=conditions_test\.go:\d+ value=boom`, w.logs.String())
		assert.Equal(t, []string{writeStatus}, calls)
		assert.Equal(t, "Errored/Errored", w.verdict())
		assert.Contains(t, w.logs.String(), "conditions_test.go", "where it happened is in the log")
	})
	t.Run("in Finalize: the finalizer stays", func(t *testing.T) {
		t.Parallel()
		resource := widget()
		resource.SetFinalizers([]string{"finalizers.widget.example.dev"})
		w := newWorldWith(t, resource)
		w.delete(widgetRef)
		calls, _, err := w.once(w.reconciler(&finalizing{finalize: panicking}))
		require.Error(t, err)
		assert.Equal(t, "finalize: panic: boom (conditions_test.go)", testlog.WithoutLines(err.Error()))
		assert.Equal(t, []string{writeStatus}, calls)
		assert.Len(t, w.widget().GetFinalizers(), 1)
	})
	t.Run("with an error: what that is counts", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		_, _, err := w.once(w.reconciler(&controller{func(context.Context, *Session) error { panic(request.Configuration("odd")) }}))
		require.Error(t, err)
		assert.Equal(t, "setup: panic: odd (conditions_test.go)", testlog.WithoutLines(err.Error()))
		assert.Equal(t, "ConfigError/Errored", w.verdict())
	})
}
