package reconcile

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// planned are the differences of a plan, as "component: object action".
func planned(plan *Plan) (lines []string) {
	for _, c := range plan.Components {
		if c.Waits != "" {
			lines = append(lines, c.Component.Name()+": "+c.Waits)
		}
		for _, d := range c.Differences {
			lines = append(lines, c.Component.Name()+": "+d.Ref.Name+" "+string(d.Action))
		}
	}
	for _, d := range plan.Pruned {
		lines = append(lines, "pruned: "+d.Ref.Name+" "+string(d.Action))
	}
	return lines
}

func TestPlan(t *testing.T) {
	t.Parallel()
	two := func(s *Session) {
		web := s.Add("web", configMap("w"))
		web.After(s.Add("db", deployment("d")), Ready)
	}
	t.Run("demand 17: of a new resource, in the order of the rollout", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		before := w.memory.Objects()
		w.forget()
		plan, err := w.reconciler(adding(two)).Plan(t.Context(), w.widget())
		require.NoError(t, err)
		require.NoError(t, plan.Err())
		assert.Equal(t, []string{"db: d created", "web: waits for db (its gate is closed)"}, planned(plan), "a new Deployment isn't ready")
		assert.True(t, plan.Changed())
		assert.Equal(t, "Graph({web:[db],db:[]})", plan.Graph.String())
		assert.Equal(t, before, w.memory.Objects(), "nothing is changed")
	})
	t.Run("demand 17: of one that is as it should be there is nothing to do, and no call", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		r := w.reconciler(adding(func(s *Session) { s.Add("web", configMap("w")) }))
		w.calm(r)
		w.forget()
		plan, err := r.Plan(t.Context(), w.widget())
		require.NoError(t, err)
		assert.Equal(t, []string{"web: w unchanged"}, planned(plan))
		assert.False(t, plan.Changed())
		assert.Empty(t, w.made())
	})
	t.Run("demand 17: what a new release changes, disables and no longer renders", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.calm(w.reconciler(adding(func(s *Session) {
			s.Add("web", configMap("w"))
			s.Add("attic", configMap("a"))
			s.Add("old", configMap("o"))
		})))
		plan, err := w.reconciler(adding(func(s *Session) {
			changed := configMap("w")
			changed.Object["data"] = map[string]any{"key": "other"}
			s.Add("web", changed)
			s.Add("attic", configMap("a")).Disable()
		})).Plan(t.Context(), w.widget())
		require.NoError(t, err)
		assert.Equal(t, []string{"attic: a deleted", "web: w configured", "pruned: o deleted"}, planned(plan))
		assert.Contains(t, plan.Components[1].Differences.String(), "-  key: value\n+  key: other\n")
		assert.Contains(t, plan.Pruned.String(), "--- ConfigMap shop/o (live)\n+++ /dev/null\n")
		for _, name := range []string{"w", "a", "o"} {
			assert.NotNil(t, w.get(configMapRef(name)), name)
		}
	})
	t.Run("somebody else's object in the way of a disabled component is none of ours", func(t *testing.T) {
		t.Parallel()
		w := newWorldWith(t, widget(), theirs("a"))
		plan, err := w.reconciler(adding(func(s *Session) { s.Add("attic", configMap("a")).Disable() })).Plan(t.Context(), w.widget())
		require.NoError(t, err)
		assert.Empty(t, planned(plan))
		require.NoError(t, plan.Err())
	})
	t.Run("what is wrong with a component is in the plan, and nothing is taken for left over then", func(t *testing.T) {
		t.Parallel()
		w := newWorldWith(t, widget(), theirs("a"))
		w.calm(w.reconciler(adding(func(s *Session) { s.Add("web", configMap("w")) })))
		plan, err := w.reconciler(adding(func(s *Session) {
			s.Add("attic", configMap("a"))
			s.Use("broken", &built{func(context.Context, *Session, *Component) error { return errors.New("out of bricks") }})
		})).Plan(t.Context(), w.widget())
		require.NoError(t, err)
		require.ErrorContains(t, plan.Err(), "component attic: ")
		require.ErrorContains(t, plan.Err(), "component broken: build: out of bricks")
		assert.Empty(t, plan.Pruned)
	})
	t.Run("no plan", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		other := &unstructured.Unstructured{}
		other.SetGroupVersionKind(configMaps)
		other.SetName("c")
		going := w.widget()
		now := going.GetCreationTimestamp()
		going.SetDeletionTimestamp(&now)
		for reason, row := range map[string]struct {
			setup    func(*Session)
			fails    error
			resource *unstructured.Unstructured
			want     string
		}{
			"another kind":           {two, nil, other, "ConfigMap c: not of the kind Widget"},
			"one that is going":      {two, nil, going, "Widget shop/w: it is being deleted"},
			"Setup fails":            {two, errors.New("no room"), w.widget(), "setup: no room"},
			"components in a circle": {func(s *Session) { a := s.Add("a"); a.After(s.Add("b").After(a)) }, nil, w.widget(), "would wait for itself"},
		} {
			r := w.reconciler(&controller{func(_ context.Context, s *Session) error { row.setup(s); return row.fails }})
			plan, err := r.Plan(t.Context(), row.resource)
			require.ErrorContains(t, err, row.want, reason)
			assert.Nil(t, plan, reason)
			_, err = r.Graph(t.Context(), row.resource)
			require.ErrorContains(t, err, row.want, reason)
		}
	})
	t.Run("the graph alone asks for nothing", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.forget()
		graph, err := w.reconciler(adding(two)).Graph(t.Context(), w.widget())
		require.NoError(t, err)
		assert.Equal(t, []string{"db", "web"}, graph.Topology())
		assert.Empty(t, w.made())
	})
}

// What a closed gate would hold back now isn't in a plan. The cluster has a Deployment "same", which is ready.
func TestPlanOfGates(t *testing.T) {
	t.Parallel()
	chain := func(first *unstructured.Unstructured, gates ...Gate) func(*Session) {
		return func(s *Session) {
			web := s.Add("web", configMap("w")).After(s.Add("db", first), gates...)
			s.Add("ads", configMap("a")).After(web)
		}
	}
	scaled := deployment("same")
	scaled.Object["spec"] = map[string]any{"replicas": int64(7)}
	for reason, row := range map[string]struct {
		setup func(*Session)
		want  []string
		err   string
	}{
		"no gate: all are sent one after the other":    {chain(deployment("d")), []string{"db: d created", "web: w created", "ads: a created", "pruned: same deleted"}, ""},
		"a new object that is ready at once":           {chain(configMap("d"), Ready), []string{"db: d created", "web: w created", "ads: a created", "pruned: same deleted"}, ""},
		"a new object that has yet to become ready":    {chain(deployment("d"), Ready), []string{"db: d created", "web: waits for db (its gate is closed)", "ads: waits for web"}, ""},
		"a ready object that stays as it is":           {chain(deployment("same"), Ready), []string{"db: same unchanged", "web: w created", "ads: a created"}, ""},
		"a ready object that changes isn't ready then": {chain(scaled, Ready), []string{"db: same configured", "web: waits for db (its gate is closed)", "ads: waits for web"}, ""},
		"a function that is false": {chain(configMap("d"), func(context.Context, *Component) (bool, error) { return false, nil }),
			[]string{"db: d created", "web: waits for db (its gate is closed)", "ads: waits for web"}, ""},
		"a function that fails": {chain(configMap("d"), func(context.Context, *Component) (bool, error) { return false, errors.New("no key") }),
			[]string{"db: d created", "ads: waits for web"}, "component web: gate on component db: no key"},
		"a function that waits": {chain(configMap("d"), func(context.Context, *Component) (bool, error) { return false, request.Precondition("no key yet") }),
			[]string{"db: d created", "web: gate on component db: no key yet", "ads: waits for web"}, ""},
	} {
		t.Run("plan 1: "+reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.calm(w.reconciler(adding(func(s *Session) { s.Add("db", deployment("same")) })))
			w.makeReady("same")
			w.forget()
			r := w.reconciler(adding(row.setup))
			plan, err := r.Plan(t.Context(), w.widget(), nil)
			require.NoError(t, err)
			assert.Equal(t, row.want, planned(plan))
			if row.err == "" {
				assert.NoError(t, plan.Err())
			} else {
				assert.EqualError(t, plan.Err(), row.err)
			}
			plan, err = r.Plan(t.Context(), w.widget(), OpenGates())
			require.NoError(t, err)
			lines := planned(plan)
			assert.Equal(t, []string{"web: w created", "ads: a created"}, lines[1:3], "all of it, if gates are open")
			assert.Equal(t, !strings.HasPrefix(lines[0], "db: same"), len(lines) == 4, "including what is pruned")
		})
	}
}

// theirs is a ConfigMap that belongs to nobody of ours.
func theirs(name string) *unstructured.Unstructured {
	obj := configMap(name)
	obj.SetNamespace("shop")
	return obj
}
