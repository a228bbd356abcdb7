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

// present is the whole status of the widget: its keys, and the types of its conditions.
func (w *world) present() (keys, conditions []string) {
	w.t.Helper()
	content, _ := w.widget().Object["status"].(map[string]any)
	list, _ := content["conditions"].([]any)
	for _, item := range list {
		conditions = append(conditions, item.(map[string]any)["type"].(string))
	}
	return slices.Sorted(maps.Keys(content)), conditions
}

// slowly deploys a ConfigMap after a wait.
type slowly struct{ wait func() }

func (slowly) Build(_ context.Context, _ *Session, c *Component) error {
	c.Add("c", configMap("c"))
	return nil
}

func (s slowly) Deploy(ctx context.Context, _ *Session, c *Component) error {
	s.wait()
	return c.Apply(ctx)
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
		}}, OnlyReady())
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
			{"what goes wrong beside that changes nothing", func() { fails = Precondition("no room") }, 0, "Stable", "Verify Complete", 1},
			{"of another generation it does", w.grow, 1, "InProgress", "setup: no room", 2},
			{"its author's mistake", func() { fails = Configuration("spec.size: too large") }, 1, "ConfigError", "setup: spec.size: too large", 2},
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
			_, conditions := w.present()
			assert.Equal(t, []string{"Ready"}, conditions, row.reason)
		}
		keys, _ := w.present()
		assert.Equal(t, []string{"conditions", "theirs"}, keys)
	})
	t.Run("what an earlier release wrote is taken off, what others did stays", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		setUp := adding(func(s *Session) { s.Add("c", configMap("c")) })
		w.calm(w.reconciler(setUp))
		w.mergeStatus(widgetRef, `{"status":{"theirs":"x"}}`)
		before := w.condition(status.ConditionReady)
		assert.Equal(t, []string{writeStatus}, w.calm(w.reconciler(setUp, OnlyReady())))
		keys, conditions := w.present()
		assert.Equal(t, []string{"conditions", "theirs"}, keys)
		assert.Equal(t, []string{"Ready"}, conditions)
		assert.Equal(t, before, w.condition(status.ConditionReady), "its transition was then")
		assert.Empty(t, w.calm(w.reconciler(setUp, OnlyReady())))
	})
	t.Run("a rollout that takes a while says that it has begun", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		var begun metav1.Condition
		r := w.reconciler(adding(func(s *Session) {
			s.Use("slow", slowly{func() {
				require.Eventually(t, func() bool { begun = w.condition(status.ConditionReady); return begun.Type != "" }, time.Minute, time.Millisecond)
			}})
		}), OnlyReady(), StartAfter(time.Millisecond))
		w.calm(r)
		assert.Equal(t, "Initializing", begun.Reason)
		assert.Equal(t, "Stable", w.condition(status.ConditionReady).Reason)
	})
	t.Run("a pause is told, and its end", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		r := w.reconciler(room(), OnlyReady())
		w.calm(r)
		w.pause("true")
		assert.Equal(t, []string{writeStatus}, w.calm(r))
		_, conditions := w.present()
		assert.Equal(t, []string{"Ready", "Paused"}, conditions)
		w.unpause()
		assert.Equal(t, []string{writeStatus}, w.calm(r))
		_, conditions = w.present()
		assert.Equal(t, []string{"Ready"}, conditions)
	})
	t.Run("what writes more is refused", func(t *testing.T) {
		t.Parallel()
		for _, other := range []Option{ServiceStatus(), OwnAnywhere(), GraphInStatus(), SupportedVersions("1"), OperatorVersion("1"), WithoutStatus()} {
			_, err := New(&controller{}, deploy.NewManager(newWorld(t)), OnlyReady(), other)
			assert.ErrorContains(t, err, "only ready: ")
		}
	})
}

func TestReadyCondition(t *testing.T) {
	t.Parallel()
	stable := metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Stable", ObservedGeneration: 4}
	initializing := metav1.Condition{Type: "Ready", Status: metav1.ConditionFalse, Reason: "Initializing", ObservedGeneration: 4}
	refused := status.UpdatingVerdict{Reason: status.UpdatingClusterError, Message: "forbidden"}
	for reason, row := range map[string]struct {
		present     metav1.Condition
		application status.Application
		want        string // reason and message
	}{
		"nothing is said":                          {stable, status.Application{Generation: 5}, ""},
		"Ready by itself":                          {metav1.Condition{}, status.Application{Ready: status.ReadyVerdict{Reason: status.ReadyInProgress, Message: "a"}}, "InProgress: a"},
		"Updating knows why":                       {stable, status.Application{Ready: status.ReadyVerdict{Reason: status.ReadyErrored, Message: "a"}, Updating: refused}, "Errored: forbidden"},
		"unless it says nothing":                   {stable, status.Application{Ready: status.ReadyVerdict{Reason: status.ReadyErrored, Message: "a"}, Updating: status.UpdatingVerdict{Reason: status.UpdatingErrored}}, "Errored: a"},
		"both are well":                            {initializing, status.Application{Ready: status.ReadyVerdict{Reason: status.ReadyStable, Message: "a"}, Updating: status.UpdatingVerdict{Reason: status.UpdatingStable, Message: "b"}}, "Stable: a"},
		"a cluster that refuses, of what is Ready": {stable, status.Application{Updating: refused, Generation: 4}, ""},
		"of a generation that isn't":               {stable, status.Application{Updating: refused, Generation: 5}, "InProgress: forbidden"},
		"of what has never been Ready":             {initializing, status.Application{Updating: refused, Generation: 4}, "Initializing: forbidden"},
		"of what has no condition":                 {metav1.Condition{}, status.Application{Updating: refused, Generation: 4}, "InProgress: forbidden"},
	} {
		c, ok := readyCondition(row.present, row.application)
		assert.Equal(t, row.want != "", ok, reason)
		if ok {
			assert.Equal(t, row.want, c.Reason+": "+c.Message, reason)
			assert.Equal(t, row.application.Generation, c.ObservedGeneration, reason)
			assert.Equal(t, c.Reason == "Stable", c.Status == metav1.ConditionTrue, reason)
		}
	}
}

// What the cluster refuses is in the log while the resource is Ready at its generation.
func TestOnlyReadyLogs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.reconciler(room(), OnlyReady())
	w.calm(r)
	w.delete(configMapRef("c"))
	w.refuse = refusing(forbidden("patch", "configmaps"), "apply ConfigMap shop/c")
	_, _, err := w.once(r)
	require.Error(t, err, "which the engine logs")
	assert.False(t, request.IsPermanent(err))
	assert.Equal(t, "Stable", w.condition(status.ConditionReady).Reason)
}
