package temporarypatch_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/temporarypatch"
)

func TestReport(t *testing.T) {
	t.Parallel()
	t.Run("patches mistake 11: what isn't matched is told", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		ref := w.create("a", `patchType: strategic, patch: {web: {deployment: {spec: {replicas: 2}}, deploymnet: {spec: {replicas: 3}}}, wbe: {a: {b: {c: 1}}, d: 1}, nought: {}}`)
		w.patched("a")
		condition := w.condition(ref, "Applied")
		assert.Equal(t, "Unknown Pending 1", string(condition.Status)+" "+condition.Reason+" "+string('0'+rune(condition.ObservedGeneration)))
		w.rendered()
		w.patched("a")
		assert.Equal(t, []string{"web.deployment"}, w.names(ref, "matched"))
		assert.Equal(t, []string{"nought", "wbe.a", "wbe.d", "web.deploymnet"}, w.names(ref, "unmatched"))
		condition = w.condition(ref, "Applied")
		assert.Equal(t, "False Unmatched", string(condition.Status)+" "+condition.Reason)
		assert.Equal(t, "no object was rendered for nought, wbe.a, wbe.d, web.deploymnet", condition.Message)
		assert.Empty(t, w.patched("a"), "it is told once")

		w.merge(ref, `{"spec": {"patch": {"wbe": null, "nought": null, "web": {"deploymnet": null}}}}`)
		w.patched("a")
		assert.Equal(t, temporarypatch.ReasonPending, w.condition(ref, "Applied").Reason, "a new generation isn't applied yet")
		assert.Empty(t, w.names(ref, "unmatched"))
		w.rendered()
		w.patched("a")
		condition = w.condition(ref, "Applied")
		assert.Equal(t, "True Applied patched web.deployment", string(condition.Status)+" "+condition.Reason+" "+condition.Message)
		assert.EqualValues(t, 2, condition.ObservedGeneration)
	})
	t.Run("patches mistake 11: lists are reported like trees", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		ref := w.create("a", `patchType: strategic, patches: [{component: web, object: deployment, patch: {spec: {replicas: 2}}}, {component: web, object: x.y, patch: {a: 1}}]`)
		w.patched("a")
		w.rendered()
		w.patched("a")
		assert.Equal(t, []string{"web.deployment"}, w.names(ref, "matched"))
		assert.Equal(t, []string{"web.x.y"}, w.names(ref, "unmatched"))
	})
	t.Run("a component that waits for its turn", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		open := false
		w.control.more = func(s *reconcile.Session) {
			late := s.Add("late")
			late.Add("o", object(`{apiVersion: v1, kind: ConfigMap, metadata: {name: late}, data: {k: old}}`))
			if !open {
				late.After(s.Add("never", object(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: never}, spec: {replicas: 1}}`)), reconcile.Ready)
			}
		}
		ref := w.create("a", `patchType: strategic, patch: {late: {o: {data: {k: new}}}, db: {settings: {data: {size: big}}}}`)
		w.patched("a")
		w.rendered()
		w.patched("a")
		// A component given to Setup is built before its turn, and named; it is rendered when its turn comes.
		assert.Equal(t, []string{"late.o"}, w.names(ref, "unmatched"), "so far")
		open = true
		w.rendered()
		w.patched("a")
		assert.Equal(t, temporarypatch.ReasonApplied, w.condition(ref, "Applied").Reason)
		open = false
		w.rendered()
		assert.Empty(t, w.patched("a"), "what the rendering before had matched counts until its turn comes again")
	})
	t.Run("an object that isn't rendered any more", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		there := true
		w.control.more = func(s *reconcile.Session) {
			c := s.Add("c", object(`{apiVersion: v1, kind: ConfigMap, metadata: {name: always}}`))
			if there {
				c.Add("o", object(`{apiVersion: v1, kind: ConfigMap, metadata: {name: sometimes}}`))
			}
		}
		ref := w.create("a", `patchType: strategic, patch: {c: {o: {data: {k: new}}}}`)
		w.patched("a")
		w.rendered()
		w.patched("a")
		assert.Equal(t, []string{"c.o"}, w.names(ref, "matched"))
		there = false
		w.rendered()
		w.patched("a")
		assert.Empty(t, w.names(ref, "matched"), "its component was rendered without it")
		assert.Equal(t, []string{"c.o"}, w.names(ref, "unmatched"))
	})
	t.Run("what an earlier generation matched says nothing of this one", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		there := true
		w.control.more = func(s *reconcile.Session) {
			if there {
				s.Add("c").Add("o", object(`{apiVersion: v1, kind: ConfigMap, metadata: {name: sometimes}}`))
			}
		}
		ref := w.create("a", `patchType: strategic, patch: {c: {o: {data: {k: new}}}}`)
		w.patched("a")
		w.rendered()
		there = false
		w.merge(ref, `{"spec": {"priority": 1}}`)
		w.patched("a")
		w.rendered()
		w.patched("a")
		assert.Equal(t, []string{"c.o"}, w.names(ref, "unmatched"))
	})
	t.Run("a patch that was made anew meanwhile isn't told what became of the old one", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		ref := w.create("a", loud)
		w.patched("a")
		w.rendered()
		w.annotate(`{}`)
		w.port.before = func(at deploy.Ref) {
			if at == widgetRef {
				w.port.before = nil
				w.merge(ref, `{"metadata": {"finalizers": null}}`)
				w.delete(ref)
				w.create("a", mode("new"))
			}
		}
		w.patched("a")
		assert.Empty(t, w.condition(ref, "Applied"))
		w.patched("a")
		assert.Equal(t, temporarypatch.ReasonPending, w.condition(ref, "Applied").Reason)
	})
	t.Run("it is looked for soon, and then less often", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		ref := w.create("a", loud)
		var waits []time.Duration
		for range 8 {
			_, result, err := w.run(w.own, "a")
			require.NoError(t, err)
			waits = append(waits, result.RequeueAfter)
			w.clock.advance(result.RequeueAfter)
		}
		assert.Equal(t, time.Second, waits[0])
		assert.Equal(t, time.Minute, waits[7])
		assert.IsNonDecreasing(t, waits)
		w.merge(ref, `{"spec": {"priority": 1}}`)
		_, result, err := w.run(w.own, "a")
		require.NoError(t, err)
		assert.Equal(t, time.Second, result.RequeueAfter, "from the start again after an edit")
	})
	t.Run("a restart takes nothing back", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		ref := w.create("a", loud)
		w.patched("a")
		w.rendered()
		w.patched("a")
		w.restart([]string{"Widget"})
		assert.Empty(t, w.patched("a"), "no word yet of a target that hasn't been rendered since")
		assert.Equal(t, temporarypatch.ReasonApplied, w.condition(ref, "Applied").Reason)
		w.rendered()
		assert.Empty(t, w.patched("a"))
	})
	t.Run("the status can't be written", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.create("a", loud)
		w.patched("a")
		w.rendered()
		require.NoError(t, w.cluster.Fail(failingStatus))
		_, _, err := w.run(w.own, "a")
		require.ErrorContains(t, err, "component temporarypatch: report the result of the patch: ")
	})
}

func TestUnknownPatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	result, err := w.own.Reconcile(t.Context(), request.Request{Key: deploy.Ref{Kind: w.patches.Kind(), Namespace: "shop", Name: "none"}})
	require.NoError(t, err)
	assert.Zero(t, result)
}
