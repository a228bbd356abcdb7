package reconcile

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// shown are the keys of the widget's status, and the types of its conditions.
func (w *world) shown() (keys, conditions []string) {
	w.t.Helper()
	for _, c := range status.Conditions(w.widget()).List() {
		conditions = append(conditions, c.Type)
	}
	content, _ := w.status().(map[string]any)
	return slices.Sorted(maps.Keys(content)), conditions
}

func TestOnlyReady(t *testing.T) {
	t.Parallel()
	t.Run("the life of a resource", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		var fails error
		r := w.reconciler(&controller{func(_ context.Context, s *Session) error {
			s.Add("web", configMap("c")).After(s.Add("db", deployment("d")), Ready)
			return fails
		}}, Status(OnlyReady))
		for _, row := range []struct {
			reason     string
			change     func()
			writes     int
			ready      string
			message    string
			generation int64
		}{
			{"what it waits for", func() {}, 1, "Initializing", "db: Deployment d: InProgress (the controller hasn't observed the object yet); web waits for db (its gate is closed)", 1},
			{"nothing new", func() {}, 0, "Initializing", "db: Deployment d: InProgress (the controller hasn't observed the object yet); web waits for db (its gate is closed)", 1},
			{"all is ready", func() { w.makeReady("d") }, 1, "Stable", "Verify Complete", 1},
			{"nothing new", func() {}, 0, "Stable", "Verify Complete", 1},
			{"what goes wrong beside that changes nothing", func() { fails = request.Precondition("no room") }, 0, "Stable", "Verify Complete", 1},
			{"of another generation it does", w.grow, 1, "InProgress", "setup: no room", 2},
			{"its author's mistake", func() { fails = request.Configuration("spec.size: too large") }, 1, "ConfigError", "setup: spec.size: too large", 2},
			{"all is well again", func() { fails = nil }, 1, "Stable", "Verify Complete", 2},
			{"somebody adds to it", func() { w.mergeStatus(widgetRef, `{"status":{"theirs":"x"}}`) }, 0, "Stable", "Verify Complete", 2},
		} {
			row.change()
			calls, _, _ := w.once(r)
			assert.Equal(t, row.writes, count(calls, writeStatus), row.reason)
			ready := w.condition(status.ConditionReady)
			assert.Equal(t, row.ready, ready.Reason, row.reason)
			assert.Equal(t, row.message, ready.Message, row.reason)
			assert.Equal(t, row.generation, ready.ObservedGeneration, row.reason)
			_, conditions := w.shown()
			assert.Equal(t, []string{"Ready"}, conditions, row.reason)
		}
		keys, _ := w.shown()
		assert.Equal(t, []string{"conditions", "theirs"}, keys)
	})
	t.Run("what an earlier release wrote is taken off, what others did stays", func(t *testing.T) {
		t.Parallel()
		w := newWorldWith(t, wanting("1"))
		setUp := adding(func(s *Session) { s.Add("c", configMap("c")) })
		w.calm(w.reconciler(setUp, SupportedVersions("1"), OperatorVersion("7")))
		w.mergeStatus(widgetRef, `{"status":{"theirs":"x"}}`)
		before := w.condition(status.ConditionReady)
		assert.Equal(t, []string{writeStatus}, w.calm(w.reconciler(setUp, Status(OnlyReady))))
		keys, conditions := w.shown()
		assert.Equal(t, []string{"conditions", "theirs"}, keys)
		assert.Equal(t, []string{"Ready"}, conditions)
		assert.Equal(t, before, w.condition(status.ConditionReady), "its transition was then")
		assert.Empty(t, w.calm(w.reconciler(setUp, Status(OnlyReady))))
	})
	t.Run("a rollout that takes a while says that it has begun", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		var begun metav1.Condition
		w.refuse = func(call string) error {
			if call == "apply ConfigMap shop/c" {
				require.Eventually(t, func() bool { begun = w.condition(status.ConditionReady); return begun.Type != "" }, time.Minute, time.Millisecond)
			}
			return nil
		}
		w.calm(w.reconciler(adding(func(s *Session) { s.Add("c", configMap("c")) }), Status(OnlyReady), StartAfter(time.Millisecond)))
		assert.Equal(t, "Initializing", begun.Reason)
		assert.Equal(t, "Stable", w.condition(status.ConditionReady).Reason)
	})
	t.Run("a pause is told, and its end", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		r := w.reconciler(room(), Status(OnlyReady))
		w.calm(r)
		w.pause("true")
		assert.Equal(t, []string{writeStatus}, w.calm(r))
		_, conditions := w.shown()
		assert.Equal(t, []string{"Ready", "Paused"}, conditions)
		w.unpause()
		assert.Equal(t, []string{writeStatus}, w.calm(r))
		_, conditions = w.shown()
		assert.Equal(t, []string{"Ready"}, conditions)
	})
	t.Run("what the cluster refuses is an error, of which the engine tells, while the resource is Ready at its generation", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		r := w.reconciler(room(), Status(OnlyReady))
		w.calm(r)
		w.delete(configMapRef("c"))
		w.refuse = refusing(forbidden("patch", "configmaps"), "apply ConfigMap shop/c")
		_, _, err := w.once(r)
		require.ErrorContains(t, err, "was refused")
		assert.False(t, request.IsPermanent(err))
		assert.Equal(t, "Stable", w.condition(status.ConditionReady).Reason)
	})
	t.Run("what writes more is refused", func(t *testing.T) {
		t.Parallel()
		for _, other := range []Option{Status(ServiceStatus), OwnAnywhere(), Status(DependencyGraph), SupportedVersions("1"), OperatorVersion("1"), Status(NoStatus)} {
			_, err := New(&controller{}, must(deploy.NewManager(newWorld(t))), Status(OnlyReady), other)
			assert.ErrorContains(t, err, ": leave out ")
		}
	})
}
