package size_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/kit/podhash"
	"github.com/operkit/operkit/reconcile/kit/size"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// resourcesOf returns the resources of the first container of an object.
func resourcesOf(h *reconciletest.Harness, object string) any {
	spec := h.Get(object).Object["spec"].(fields)
	return spec["template"].(fields)["spec"].(fields)["containers"].(list)[0].(fields)["resources"]
}

func message(h *reconciletest.Harness) string {
	return fmt.Sprint(h.Get("Shop tea").Object["status"])
}

func TestComponents(t *testing.T) {
	t.Parallel()
	t.Run("size 10: the workloads of components in the table are sized, and no others", func(t *testing.T) {
		t.Parallel()
		h := harness(t, store, sized(t))
		h.Apply(shop(fields{"size": "large"}))
		h.RunUntilSettled()
		h.Ready("Shop tea")
		assert.EqualValues(t, 3, replicas(h, "Deployment web"))
		assert.Equal(t, fields{"requests": fields{"cpu": "500m", "memory": "1Gi"}, "limits": fields{"memory": "2Gi"}}, resourcesOf(h, "Deployment web"))
		assert.EqualValues(t, 4, replicas(h, "Deployment other"))
		assert.Nil(t, resourcesOf(h, "Deployment other"))

		h.RunUntilSettled()
		assert.Empty(t, h.Calls())
		h.Restart()
		h.RunUntilSettled()
		h.Writes(0)

		edit(t, h, fields{"size": "small"})
		h.RunUntilSettled()
		h.Configured("Deployment web")
		assert.EqualValues(t, 1, replicas(h, "Deployment web"))
		assert.Equal(t, fields{"requests": fields{"cpu": "100m", "memory": "128Mi"}}, resourcesOf(h, "Deployment web"))

		edit(t, h, fields{"overrides": fields{"web": fields{"replicas": int64(0), "resources": fields{"requests": fields{"cpu": "1"}}}}})
		h.RunUntilSettled()
		assert.EqualValues(t, 0, replicas(h, "Deployment web"))
		assert.Equal(t, fields{"requests": fields{"cpu": "1", "memory": "128Mi"}}, resourcesOf(h, "Deployment web"))
		h.RunUntilSettled()
		assert.Empty(t, h.Calls())
	})
	t.Run("size 10: a mistake in the resource fails the components in the table, and no others", func(t *testing.T) {
		t.Parallel()
		h := harness(t, store, sized(t))
		h.Apply(shop(fields{"size": "huge"}))
		h.RunUntilSettled()
		h.Gone("Deployment web")
		assert.EqualValues(t, 4, replicas(h, "Deployment other"))
		assert.Equal(t, "ConfigError", h.Condition("Shop tea", "Ready").Reason)
		assert.Contains(t, message(h), `spec.size: there is no size "huge": use one of large, small`)
		edit(t, h, fields{"size": "small"})
		h.RunUntilSettled()
		h.Ready("Shop tea")
	})
	t.Run("size 10: what is rendered is what is applied", func(t *testing.T) {
		t.Parallel()
		h := harness(t, store, sized(t))
		h.Apply(shop(fields{"size": "large"}))
		h.RunUntilSettled()
		for _, component := range h.Render("Shop tea") {
			for _, obj := range component.Objects {
				assert.EqualValues(t, replicas(h, "Deployment "+obj.GetName()), obj.Object["spec"].(fields)["replicas"])
			}
		}
	})
}

// configured is a controller whose configuration has sizes.
type configured struct {
	reconcile.Controller
	config fields
}

func (c configured) Defaults() reconcile.Defaults { return reconcile.Defaults{Config: c.config} }

func TestLayers(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		config, overrides any
		options           []size.Option
		replicas          any
		message           string
	}{
		"no layer":                              {nil, nil, nil, 3, ""},
		"a layer that changes nothing":          {fields{"sizes": fields{"large": fields{"web": fields{"replicas": int64(3)}}}}, nil, nil, 3, ""},
		"the configuration of the controller":   {fields{"sizes": fields{"large": fields{"web": fields{"replicas": 5}}}}, nil, nil, 5, ""},
		"the resource over the configuration":   {fields{"sizes": fields{"large": fields{"web": fields{"replicas": 5}}}}, fields{"sizes": fields{"large": fields{"web": fields{"replicas": int64(6)}}}}, nil, 6, ""},
		"another path":                          {fields{"of": fields{"web": fields{"large": fields{"web": fields{"replicas": 5}}}}, "sizes": 1}, nil, []size.Option{size.Layer("of.web")}, 5, ""},
		"a mistake is one of the configuration": {nil, fields{"sizes": fields{"large": fields{"web": fields{"replicas": int64(-6)}, "new": int64(1)}}}, nil, nil, "configuration: sizes: large.web.replicas: it is negative: use 0 or more\nsmall: it lacks the component new, which other sizes have: add it"},
		"a layer of another form":               {nil, fields{"sizes": list{"large"}}, nil, nil, "configuration: sizes: it has to be a map of sizes"},
		"a layer in something that isn't a map": {fields{"of": 1}, nil, []size.Option{size.Layer("of.web")}, nil, "configuration: of: it isn't a map"},
		"a component that is null in the layer": {nil, fields{"sizes": fields{"large": fields{"web": nil}}}, nil, nil, "configuration: sizes: large.web: it has to be a map"},
		"a list in place of a map":              {nil, fields{"sizes": fields{"large": fields{"web": fields{"resources": list{"x"}}}}}, nil, nil, "configuration: sizes: large.web.resources: it has to be a map"},
	} {
		t.Run("size 11: "+reason, func(t *testing.T) {
			t.Parallel()
			config, _ := row.config.(fields)
			h := reconciletest.New(t, configured{reconciletest.Controlling(shops, store), config}, reconciletest.With(sized(t, row.options...)))
			resource := shop(fields{"size": "large"})
			if row.overrides != nil {
				resource.Object["configOverrides"] = row.overrides
			}
			h.Apply(resource)
			h.RunUntilSettled()
			assert.EqualValues(t, 4, replicas(h, "Deployment other"))
			if row.message != "" {
				h.Gone("Deployment web")
				assert.Contains(t, message(h), row.message)
				return
			}
			assert.EqualValues(t, row.replicas, replicas(h, "Deployment web"))
			h.RunUntilSettled()
			assert.Empty(t, h.Calls())
		})
	}
}

func TestLayersOfOtherForms(t *testing.T) {
	t.Parallel()
	run := func(t *testing.T, config, overrides fields) *reconciletest.Harness {
		t.Helper()
		setup := func(_ context.Context, s *reconcile.Session) error {
			for _, name := range []string{"web", "db", "cache"} {
				s.Add(name, deployment(name, name))
			}
			return nil
		}
		h := reconciletest.New(t, configured{reconciletest.Controlling(shops, setup), fields{"sizes": config}}, reconciletest.With(sized(t)))
		resource := shop(fields{"size": "large"})
		resource.Object["configOverrides"] = fields{"sizes": overrides}
		h.Apply(resource)
		h.RunUntilSettled()
		return h
	}
	t.Run("size 11: a number in place of the values changes only the replicas, and values in its place keep it", func(t *testing.T) {
		t.Parallel()
		h := run(t, fields{"large": fields{"web": 5}}, fields{"large": fields{"db": fields{"resources": fields{"limits": fields{"cpu": int64(1)}}}}})
		assert.EqualValues(t, 5, replicas(h, "Deployment web"))
		assert.Equal(t, fields{"requests": fields{"cpu": "500m", "memory": "1Gi"}, "limits": fields{"memory": "2Gi"}}, resourcesOf(h, "Deployment web"))
		assert.EqualValues(t, 2, replicas(h, "Deployment db"))
		assert.Equal(t, fields{"limits": fields{"cpu": "1"}}, resourcesOf(h, "Deployment db"))
	})
	t.Run("size 11: a mistake in a layer also fails a component that only a layer has", func(t *testing.T) {
		t.Parallel()
		for _, wrong := range []any{fields{"web": int64(-1)}, list{"web"}} {
			h := run(t, fields{"small": fields{"cache": 1}, "large": fields{"cache": 7}}, fields{"large": wrong})
			assert.Contains(t, message(h), "configuration: sizes: large")
			h.Gone("Deployment web", "Deployment db", "Deployment cache")
		}
	})
}

func TestUnknownContainer(t *testing.T) {
	t.Parallel()
	t.Run("size 12: a container that no workload of the component has is an error", func(t *testing.T) {
		t.Parallel()
		h := harness(t, func(_ context.Context, s *reconcile.Session) error {
			s.Add("web", deployment("one", "a"), deployment("two", "b", "c"))
			return nil
		}, sized(t))
		h.Apply(shop(fields{"size": "small", "overrides": fields{"web": fields{"containers": fields{"c": fields{"limits": fields{"cpu": "1"}}}}}}))
		h.RunUntilSettled()
		h.Ready("Shop tea")
		edit(t, h, fields{"overrides": fields{"web": fields{"containers": fields{"d": fields{"limits": fields{"cpu": "1"}}}}}})
		h.RunUntilSettled()
		assert.Contains(t, message(h), "size of component web: containers.d: no workload has this container: use one of a, b, c")
	})
}

func TestPodsThatCantChange(t *testing.T) {
	t.Parallel()
	t.Run("size 13: a Job and a Pod keep the resources that they have", func(t *testing.T) {
		t.Parallel()
		h := harness(t, func(_ context.Context, s *reconcile.Session) error {
			pod := fields{"containers": list{fields{"name": "web", "image": "web"}}}
			s.Add("web", fields{"apiVersion": "batch/v1", "kind": "Job", "metadata": fields{"name": "migrate"}, "spec": fields{"template": fields{"spec": pod}}},
				fields{"apiVersion": "v1", "kind": "Pod", "metadata": fields{"name": "web"}, "spec": pod})
			return nil
		}, sized(t))
		h.Apply(shop(fields{"size": "small"}))
		h.RunUntilSettled()
		small := fields{"requests": fields{"cpu": "100m", "memory": "128Mi"}}
		assert.Equal(t, small, resourcesOf(h, "Job migrate"))
		edit(t, h, fields{"size": "large"})
		h.RunUntilSettled()
		assert.Equal(t, small, resourcesOf(h, "Job migrate"))
		assert.Equal(t, small, h.Get("Pod web").Object["spec"].(fields)["containers"].(list)[0].(fields)["resources"])
		for _, call := range h.Calls() {
			assert.Equal(t, "Shop", call.Ref.Kind.Kind, call.String())
		}
		h.Delete("Job migrate")
		h.RunUntilSettled()
		assert.Equal(t, fields{"requests": fields{"cpu": "500m", "memory": "1Gi"}, "limits": fields{"memory": "2Gi"}}, resourcesOf(h, "Job migrate"))
	})
}

func TestWithPodhash(t *testing.T) {
	t.Parallel()
	for order, options := range map[string][]reconcile.Option{
		"podhash first": {podhash.Components(), sized(t)}, "size first": {sized(t), podhash.Components()},
	} {
		t.Run("size 14: "+order, func(t *testing.T) {
			t.Parallel()
			h := reconciletest.New(t, reconciletest.Controlling(shops, func(_ context.Context, s *reconcile.Session) error {
				web := deployment("web", "web")
				web["spec"].(fields)["template"].(fields)["spec"].(fields)["containers"].(list)[0].(fields)["envFrom"] = list{fields{"secretRef": fields{"name": "own"}}}
				s.Add("web", web, fields{"apiVersion": "v1", "kind": "Secret", "metadata": fields{"name": "own"}, "stringData": fields{"a": "b"}})
				return nil
			}), reconciletest.With(options...))
			h.Apply(shop(fields{"size": "large"}))
			h.RunUntilSettled()
			hash := func() string {
				value, _, _ := unstructured.NestedString(h.Get("Deployment web").Object, "spec", "template", "metadata", "annotations", "operkit.dev/dependency-hash")
				return value
			}
			before := hash()
			assert.Len(t, before, 64)
			assert.EqualValues(t, 3, replicas(h, "Deployment web"))
			edit(t, h, fields{"size": "small"})
			h.RunUntilSettled()
			assert.Equal(t, before, hash())
			assert.EqualValues(t, 1, replicas(h, "Deployment web"))
			h.RunUntilSettled()
			assert.Empty(t, h.Calls())
		})
	}
}

func TestLargeSession(t *testing.T) {
	t.Parallel()
	t.Run("size 19: 500 components are sized at once", func(t *testing.T) {
		t.Parallel()
		small := fields{}
		for i := range 500 {
			small[fmt.Sprint("c", i)] = fields{"replicas": i % 7, "resources": fields{"limits": fields{"cpu": i + 1}}}
		}
		read, err := size.Read(fields{"small": small})
		require.NoError(t, err)
		option, err := size.Components(read, size.Default("small"))
		require.NoError(t, err)
		h := harness(t, func(_ context.Context, s *reconcile.Session) error {
			for i := range 500 {
				s.Add(fmt.Sprint("c", i), deployment(fmt.Sprint("c", i), "a"))
			}
			return nil
		}, option)
		h.Apply(shop(fields{}))
		h.RunUntilSettled()
		for _, i := range []int{0, 7, 13, 499} {
			assert.EqualValues(t, i%7, replicas(h, fmt.Sprint("Deployment c", i)))
			assert.Equal(t, fields{"limits": fields{"cpu": fmt.Sprint(i + 1)}}, resourcesOf(h, fmt.Sprint("Deployment c", i)))
		}
	})
}
