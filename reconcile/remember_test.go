package reconcile

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/memory"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/standing"
	"github.com/operkit/operkit/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A reconcile that fails is told from one that is stuck by how many objects are as they should be.
func TestFurthest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var failing []string
	w.refuse = func(call string) error {
		if slices.Contains(failing, call) {
			return forbidden("patch", "configmaps")
		}
		return nil
	}
	r := w.reconciler(adding(func(s *Session) {
		for _, name := range []string{"a", "b", "c"} {
			s.Add(name, configMap(name))
		}
	}))
	const a, b, c = "apply ConfigMap shop/a", "apply ConfigMap shop/b", "apply ConfigMap shop/c"
	for _, step := range []struct {
		reason  string
		failing []string
		before  func()
		fails   bool
		further bool
	}{
		{"the first, with nothing", []string{a, b, c}, nil, true, false},
		{"nothing more", []string{a, b, c}, nil, true, false},
		{"one more", []string{b, c}, nil, true, true},
		{"the same again", []string{b, c}, nil, true, false},
		{"two at once", []string{a}, func() { w.delete(configMapRef("a")) }, true, true},
		{"what was there before is no progress", []string{b}, func() { w.delete(configMapRef("b")) }, true, false},
		{"another spec", []string{b}, func() { w.merge(widgetRef, `{"spec":{"size":4},"metadata":{"generation":2}}`) }, true, true},
		{"all is well", nil, nil, false, false},
		{"which is forgotten then", []string{c}, func() { w.delete(configMapRef("c")) }, true, true},
	} {
		if step.before != nil {
			step.before()
		}
		failing = step.failing
		_, _, err := w.once(r)
		assert.Equal(t, step.fails, err != nil, step.reason)
		assert.Equal(t, step.further, request.Resolve(err).Advanced, step.reason)
	}
	w.delete(widgetRef)
	_, _, _ = w.once(r)
	assert.Zero(t, r.lifecycle.Memory.Len(), "who is gone")
}

// Two installs of one operator, of which one renders an object that the other one prunes.
func TestRegrown(t *testing.T) {
	t.Parallel()
	t.Run("what another process makes again is pruned rarely", func(t *testing.T) {
		t.Parallel()
		w, o := newWorld(t), &told{}
		install := func(names []string, options ...Option) *Reconciler {
			return w.reconciler(adding(func(s *Session) {
				for _, name := range names {
					s.Add(name, configMap(name))
				}
			}), options...)
		}
		more, less := install([]string{"a", "b"}), install([]string{"a"}, Events(o))
		deletions := func(rounds int) (count int) { // of two seconds each
			for range rounds {
				_, _, _ = w.once(more)
				calls, _, _ := w.once(less)
				if slices.Contains(calls, "delete ConfigMap shop/b") {
					count++
				}
			}
			return count
		}
		assert.Equal(t, 3, deletions(20))
		_, _, err := w.once(less)
		require.ErrorContains(t, err, `ConfigMap shop/b: another process applies this object as the same field manager "operkit"`)
		after, timed := request.RetryTime(err)
		assert.True(t, timed && after > 0 && after <= time.Minute, "it comes back by itself in %s", after)
		assert.Equal(t, 1, less.Tally().Contested)
		assert.LessOrEqual(t, deletions(150), 6, "in five minutes")
		warnings := slices.DeleteFunc(o.texts(), func(text string) bool { return text[:len("Warning")] != "Warning" })
		require.Len(t, warnings, 1, "it is said once")
		assert.Contains(t, warnings[0], "Warning Contested: ")

		// The other one ends.
		w.clock.advance(time.Minute)
		calls, _, err := w.once(less)
		assert.Contains(t, calls, "delete ConfigMap shop/b")
		require.ErrorContains(t, err, "another process")
		w.clock.advance(2 * time.Minute)
		_, _, err = w.once(less)
		require.NoError(t, err)
		assert.Empty(t, w.calm(less))
	})
	t.Run("what one's own process makes again is pruned at once", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		names := []string{"a"}
		r := w.reconciler(adding(func(s *Session) {
			for _, name := range names {
				s.Add(name, configMap(name))
			}
		}))
		for range 10 {
			names = []string{"a", "b"}
			w.calm(r)
			names = []string{"a"}
			assert.Contains(t, w.calm(r), "delete ConfigMap shop/b")
		}
	})
}

// What finishes, is deleted then, and is rendered still is made anew for ever: that is said once.
func TestMadeAnewAgainAndAgain(t *testing.T) {
	t.Parallel()
	jobs := schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "Job"}
	pods := schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
	tasks := schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Task"}
	const complete, succeeded = `{"status":{"conditions":[{"type":"Complete","status":"True"}]}}`, `{"status":{"phase":"Succeeded"}}`
	for reason, row := range map[string]struct {
		kind schema.GroupVersionKind
		spec map[string]any
		// status is what it says of itself before it is deleted; empty if nobody sees it.
		status string
		by     deploy.Strategy
		want   string
	}{
		"a Job with a TTL":                      {jobs, map[string]any{"ttlSecondsAfterFinished": int64(5)}, complete, "", "(ttlSecondsAfterFinished is 5)"},
		"whose end is unseen":                   {jobs, map[string]any{"ttlSecondsAfterFinished": int64(0)}, "", "", "(ttlSecondsAfterFinished is 0)"},
		"that is only created":                  {jobs, map[string]any{"ttlSecondsAfterFinished": int64(5)}, complete, deploy.CreateOnly, "(ttlSecondsAfterFinished is 5)"},
		"a Job that somebody deletes each time": {jobs, map[string]any{}, complete, "", "after it had finished:"},
		"a Pod that has finished":               {pods, map[string]any{}, succeeded, "", "after it had finished:"},
		"another kind with a TTL":               {tasks, map[string]any{"ttlSecondsAfterFinished": int64(7)}, "", "", "(ttlSecondsAfterFinished is 7)"},
		"a Job that is deleted at work":         {jobs, map[string]any{}, "", "", ""},
		"what doesn't finish":                   {configMaps, nil, "", "", ""},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w, o := newWorld(t), &told{}
			ref := deploy.Ref{Kind: row.kind, Namespace: "shop", Name: "once"}
			r := w.reconciler(adding(func(s *Session) {
				obj := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "once"}}}
				obj.SetGroupVersionKind(row.kind)
				if row.spec != nil {
					obj.Object["spec"] = row.spec
				}
				s.Add("work").Add("once", obj, By(row.by))
			}), Events(o))
			var warnings []string
			for i := range 6 {
				w.calm(r)
				if row.status != "" {
					w.mergeStatus(ref, row.status)
				}
				w.calm(r)
				w.delete(ref)
				for _, text := range o.texts() {
					if strings.HasPrefix(text, "Warning") {
						assert.Equal(t, memory.CreationLimit, i)
						warnings = append(warnings, text)
					}
				}
			}
			if row.want == "" {
				assert.Empty(t, warnings)
				return
			}
			require.Len(t, warnings, 1, "it is said once")
			assert.Contains(t, warnings[0], "Warning MadeAnew: component work: "+row.kind.Kind+" shop/once: was created again 2 times")
			assert.Contains(t, warnings[0], row.want)
			assert.Contains(t, warnings[0], "Finished()")
			assert.Equal(t, 1, strings.Count(w.logs.String(), "an object is created again each time it has finished"), "and once in the log")
		})
	}
}

// Two installs of one operator whose content differs.
func TestContested(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, o := newWorld(t), &told{}
		install := func(value string, options ...Option) *Reconciler {
			return w.reconciler(adding(func(s *Session) {
				obj := configMap("c")
				obj.Object["data"] = map[string]any{"of": value}
				s.Add("web", obj)
				s.Add("other", configMap("d"))
			}), options...)
		}
		ours, theirs := install("ours", Events(o)), install("theirs")
		for range 5 {
			_, _, _ = w.once(ours)
			_, _, _ = w.once(theirs)
		}
		o.texts()
		calls, _, err := w.once(ours)
		assert.Empty(t, calls, "neither the object nor the status is written")
		require.ErrorContains(t, err, `component web: ConfigMap shop/c: another process applies this object as the same field manager "operkit"`)
		after, timed := request.RetryTime(err)
		assert.True(t, timed && after > 0 && after <= 2*time.Minute, "it comes back by itself in %s", after)
		assert.Equal(t, 1, ours.Tally().Contested)
		assert.Equal(t, map[standing.Standing]int{standing.Failing: 1}, ours.Tally().Resources)
		assert.Empty(t, o.texts(), "it was said")
		updating := w.condition(status.ConditionUpdating)
		assert.Equal(t, string(status.UpdatingClusterError), updating.Reason)
		assert.Contains(t, updating.Message, "is the operator installed twice?")

		// A restart counts anew.
		again := install("ours", Events(o))
		for range 10 {
			_, _, _ = w.once(again)
			_, _, _ = w.once(theirs)
		}
		// The other one is alone for a minute, so that each tries once more.
		time.Sleep(time.Minute)
		for range 5 {
			_, _, _ = w.once(theirs)
			_, _, _ = w.once(ours)
		}
		o.texts()
		for start := time.Now(); ; {
			if _, _, err = w.once(ours); err == nil {
				break
			}
			after, _ = request.RetryTime(err)
			require.Less(t, time.Since(start), 4*time.Minute)
			time.Sleep(after)
		}
		assert.Zero(t, ours.Tally().Contested)
		assert.Equal(t, map[standing.Standing]int{standing.Settled: 1}, ours.Tally().Resources)
		assert.Empty(t, o.texts())
		assert.Equal(t, "ours", w.get(configMapRef("c")).Object["data"].(map[string]any)["of"])
		assert.Empty(t, w.calm(ours), "an unchanged resource costs no call")
	})
}

func TestContestedEvent(t *testing.T) {
	t.Parallel()
	w, o := newWorld(t), &told{}
	install := func(value string, options ...Option) *Reconciler {
		return w.reconciler(adding(func(s *Session) {
			obj := configMap("c")
			obj.Object["data"] = map[string]any{"of": value}
			s.Add("web", obj)
		}), options...)
	}
	ours, theirs := install("ours", Events(o)), install("theirs")
	for range 20 {
		_, _, _ = w.once(ours)
		_, _, _ = w.once(theirs)
	}
	var warnings []string
	for _, text := range o.texts() {
		if text[:7] == "Warning" {
			warnings = append(warnings, text)
		}
	}
	require.Len(t, warnings, 1, "it is said once")
	assert.Contains(t, warnings[0], "Warning Contested: component web: ConfigMap shop/c: another process applies this object as the same field manager")
}
