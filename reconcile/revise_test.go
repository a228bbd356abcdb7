package reconcile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// inputs is an option that writes what Input returns for the ConfigMap "in" into an annotation of the ConfigMap "out".
func inputs() Option {
	return ReviseObjects(func(ctx context.Context, c *Component, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		if obj.GetName() != "out" {
			return obj, nil
		}
		in, err := c.Input(ctx, configMapRef("in"))
		if err != nil {
			return nil, err
		}
		revised := obj.DeepCopy()
		revised.SetAnnotations(map[string]string{"saw": "nothing"})
		if in != nil {
			revised.SetAnnotations(map[string]string{"saw": fmt.Sprint(in.Object["data"])})
		}
		return revised, nil
	})
}

// holding is a ConfigMap with a value.
func holding(name, value string) *unstructured.Unstructured {
	content := configMap(name)
	content.Object["data"] = map[string]any{"key": value}
	return content
}

// buildingIn is a Builder of the ConfigMap "in".
func buildingIn(value string) *built {
	return &built{func(_ context.Context, _ *Session, c *Component) error {
		c.Add("in", holding("in", value))
		return nil
	}}
}

func TestInput(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		live  string // the value in the cluster; empty: the ConfigMap isn't there
		setup func(s *Session)
		saw   string
	}{
		"reconcile 56: an object of the component itself, also a later one": {"old", func(s *Session) {
			s.Add("c", configMap("out"), holding("in", "new"))
		}, "map[key:new]"},
		"reconcile 56: of a component that Setup describes, in any order": {"old", func(s *Session) {
			s.Add("c", configMap("out"))
			s.Add("d", holding("in", "new"))
		}, "map[key:new]"},
		"reconcile 56: of a Builder that the component waits for, through another": {"old", func(s *Session) {
			first := s.Use("first", buildingIn("new"))
			s.Add("c", configMap("out")).After(s.Add("second").After(first))
		}, "map[key:new]"},
		"reconcile 56: of a Builder that the component doesn't wait for, as it is in the cluster": {"old", func(s *Session) {
			s.Use("d", buildingIn("new"))
			s.Add("c", configMap("out"))
		}, "map[key:old]"},
		"reconcile 56: one that is created once, as it was created": {"old", func(s *Session) {
			c := s.Add("c", configMap("out"))
			c.Add("in", holding("in", "new"), By(deploy.CreateOnly))
		}, "map[key:old]"},
		"reconcile 56: one that is created once, now": {"", func(s *Session) {
			c := s.Add("c", configMap("out"))
			c.Add("in", holding("in", "new"), By(deploy.CreateOnly))
		}, "map[key:new]"},
		"reconcile 56: of a disabled component, none": {"old", func(s *Session) {
			s.Add("c", configMap("out"))
			s.Add("d", holding("in", "new")).Disable()
		}, "nothing"},
		"reconcile 56: a deferred one, by its content": {"old", func(s *Session) {
			c := s.Add("c", configMap("out"))
			c.Add("in", Deferred{Ref: deploy.Ref{Kind: configMaps, Name: "in"}, Digest: "1", Content: func(context.Context) (*unstructured.Unstructured, error) {
				return holding("in", "new"), nil
			}})
		}, "map[key:new]"},
		"reconcile 56: an object of somebody else": {"old", func(s *Session) { s.Add("c", configMap("out")) }, "map[key:old]"},
		"reconcile 56: an object that isn't there": {"", func(s *Session) { s.Add("c", configMap("out")) }, "nothing"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if row.live != "" {
				w.calm(w.reconciler(adding(func(s *Session) { s.Add("c", holding("in", row.live)) })))
			}
			_, _, err := w.once(w.reconciler(adding(row.setup), inputs(), Concurrency(0)))
			require.NoError(t, err)
			assert.Equal(t, row.saw, w.get(configMapRef("out")).GetAnnotations()["saw"])
		})
	}
}

func TestInputIsWatched(t *testing.T) {
	t.Parallel()
	annotation := func(w *world) string { return w.get(configMapRef("out")).GetAnnotations()["saw"] }
	inBubble(t, "reconcile 56: an object that is written after it was read brings the resource again", func(w *world) {
		_, start := w.engine(adding(func(s *Session) {
			s.Add("c", configMap("out"))
			s.Use("d", &built{func(ctx context.Context, s *Session, c *Component) error {
				out, err := s.Get(ctx, configMapRef("out")) // c is deployed first
				if out == nil {
					return errors.Join(request.Precondition("no out"), err)
				}
				c.Add("in", holding("in", "new"))
				return nil
			}})
		}), inputs(), Concurrency(0))
		defer start()()
		w.settle()
		assert.Equal(t, "map[key:new]", annotation(w))
	})
	inBubble(t, "reconcile 56: an object of somebody else is followed, also before it is there", func(w *world) {
		_, start := w.engine(adding(func(s *Session) { s.Add("c", configMap("out")) }), inputs())
		defer start()()
		w.settle()
		assert.Equal(t, "nothing", annotation(w))
		in := holding("in", "1")
		in.SetNamespace("shop")
		_, err := w.memory.Port().Apply(t.Context(), in, deploy.ApplyOptions{FieldManager: "somebody"})
		require.NoError(t, err)
		assert.Equal(t, []string{"apply ConfigMap shop/out"}, w.settle())
		assert.Equal(t, "map[key:1]", annotation(w))
		w.merge(configMapRef("in"), `{"data":{"key":"2"}}`)
		assert.Equal(t, []string{"apply ConfigMap shop/out"}, w.settle())
		assert.Empty(t, w.settle())
	})
}

func TestReviseObjects(t *testing.T) {
	t.Parallel()
	marked := func(value string) Option {
		return ReviseObjects(func(_ context.Context, _ *Component, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
			revised := obj.DeepCopy()
			annotations := maps.Clone(obj.GetAnnotations())
			if annotations == nil {
				annotations = map[string]string{}
			}
			annotations["mark"] += value
			revised.SetAnnotations(annotations)
			return revised, nil
		})
	}
	t.Run("reconcile 55: functions are called in order, after the names, and not for finished objects", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		r := w.reconciler(adding(func(s *Session) {
			c := s.Add("c", configMap("a"))
			c.Add("b", configMap("b"), Finished())
		}), marked("1"), marked("2"), NameObjects())
		w.calm(r)
		assert.Equal(t, "12", w.get(configMapRef("a")).GetAnnotations()["mark"])
		assert.Equal(t, "c.configmap/a", w.get(configMapRef("a")).GetAnnotations()["operkit.dev/internal-name"])
		assert.NotContains(t, w.get(configMapRef("b")).GetAnnotations(), "mark")
		assert.Empty(t, w.calm(r), "and a settled resource costs nothing")
	})
	t.Run("reconcile 55: objects of a disabled component aren't revised", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.calm(w.reconciler(adding(func(s *Session) { s.Add("c", configMap("a")) })))
		w.calm(w.reconciler(adding(func(s *Session) { s.Add("c", configMap("a")).Disable() }), revisingWith(errors.New("not called"))))
	})
	for reason, row := range map[string]struct {
		option Option
		want   string
	}{
		"reconcile 55: an error fails the component": {revisingWith(errors.New("oh")), "component c: object configmap/a: oh"},
		"reconcile 55: a panic is an error": {ReviseObjects(func(context.Context, *Component, *unstructured.Unstructured) (*unstructured.Unstructured, error) {
			panic("oh")
		}), "component c: object configmap/a: panic: oh"},
		"reconcile 55: nothing is no object": {revisingWith(nil), "component c: object configmap/a: revise objects: the function returned nil or another object"},
		"reconcile 55: it stays the object that it was": {ReviseObjects(func(context.Context, *Component, *unstructured.Unstructured) (*unstructured.Unstructured, error) {
			return configMap("z"), nil
		}), "component c: object configmap/a: revise objects: the function returned nil or another object"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			_, _, err := w.once(w.reconciler(adding(func(s *Session) { s.Add("c", configMap("a")) }), row.option))
			require.ErrorContains(t, err, row.want)
		})
	}
	t.Run("reconcile 55: a plan has what would be applied", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		r := w.reconciler(adding(func(s *Session) { s.Add("c", configMap("a")) }), marked("1"))
		plan, err := r.Plan(t.Context(), w.widget())
		require.NoError(t, err)
		assert.Equal(t, "1", plan.Components[0].Differences[0].After.GetAnnotations()["mark"])
	})
	t.Run("a nil function is refused", func(t *testing.T) {
		t.Parallel()
		_, err := New(&controller{}, must(deploy.NewManager(newWorld(t))), ReviseObjects(nil))
		require.EqualError(t, err, "revise objects: nil function")
	})
}

func revisingWith(err error) Option {
	return ReviseObjects(func(context.Context, *Component, *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		return nil, err
	})
}
