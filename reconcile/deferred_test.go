package reconcile

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/patching"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// deferring is a ConfigMap whose content is counted each time that it is asked for.
func deferring(name, digest string, asked *atomic.Int64) Deferred {
	return Deferred{Ref: deploy.Ref{Kind: configMaps, Name: name}, Digest: digest, Content: func(context.Context) (*unstructured.Unstructured, error) {
		asked.Add(1)
		return configMap(name), nil
	}}
}

func TestDeferred(t *testing.T) {
	t.Parallel()
	t.Run("its content is asked for when it may be needed, and only then", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		var asked atomic.Int64
		digest := "1"
		r := w.reconciler(adding(func(s *Session) {
			c := s.Add("c", deferring("a", digest, &asked))
			c.Add("whole", configMap("b"))
		}))
		assert.Equal(t, []string{"apply ConfigMap shop/a", "apply ConfigMap shop/b", writeStatus}, w.calm(r))
		assert.EqualValues(t, 1, asked.Load())
		assert.Empty(t, w.calm(r))
		assert.EqualValues(t, 1, asked.Load(), "it is as it should be")
		w.merge(configMapRef("a"), `{"data": {"key": "spoilt"}}`)
		assert.Equal(t, []string{"apply ConfigMap shop/a"}, w.calm(r))
		assert.EqualValues(t, 2, asked.Load())
		digest = "2"
		assert.Empty(t, w.calm(r), "another digest of the same content")
		assert.EqualValues(t, 3, asked.Load())
		assert.Equal(t, map[string]any{"key": "value"}, w.get(configMapRef("a")).Object["data"])
		assert.NotContains(t, w.get(configMapRef("a")).Object, "digest")
		assert.Equal(t, "Stable/Stable", w.verdict())
	})
	t.Run("it is pruned like all others, and its readiness is judged", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		var asked, judged atomic.Int64
		names := []string{"a", "b"}
		r := w.reconciler(adding(func(s *Session) {
			c := s.Add("c")
			for _, name := range names {
				c.Add("", deferring(name, "1", &asked), ReadyWhen(func(_ context.Context, live *unstructured.Unstructured) error {
					judged.Add(1)
					assert.Equal(t, map[string]any{"key": "value"}, live.Object["data"], "the object, not what stands for it")
					return nil
				}))
			}
		}))
		w.calm(r)
		assert.EqualValues(t, 2, judged.Load())
		names = names[:1]
		assert.Contains(t, w.calm(r), "delete ConfigMap shop/b")
		assert.EqualValues(t, 2, asked.Load(), "a deletion needs no content")
	})
	t.Run("one of a disabled component is deleted without it", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		var asked atomic.Int64
		disabled := false
		r := w.reconciler(adding(func(s *Session) {
			if c := s.Add("c", deferring("a", "1", &asked)); disabled {
				c.Disable()
			}
		}))
		w.calm(r)
		disabled = true
		assert.Contains(t, w.calm(r), "delete ConfigMap shop/a")
		assert.EqualValues(t, 1, asked.Load())
	})
	t.Run("its component's objects are no more than names until then", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		var asked atomic.Int64
		var names []string
		w.calm(w.reconciler(adding(func(s *Session) {
			c := s.Add("c", deferring("a", "1", &asked))
			for _, obj := range c.Objects() {
				names = append(names, deploy.RefOf(obj).String())
				assert.NotContains(t, obj.Object, "data")
			}
		})))
		assert.Equal(t, []string{"ConfigMap a"}, names)
	})
}

// Who looks at contents sees them whole, whatever is in the cluster.
func TestDeferredIsSeenWhole(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	c := adding(func(s *Session) { s.Add("c", deferring("a", "1", &asked)) })
	whole := func(t *testing.T, objects []*unstructured.Unstructured) {
		t.Helper()
		require.Len(t, objects, 1)
		assert.Equal(t, map[string]any{"key": "value"}, objects[0].Object["data"])
	}
	t.Run("Observe", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		seen := 0
		r := w.reconciler(c, ObserveComponents(func(component *Component, _ deploy.Results) {
			seen++
			whole(t, component.Objects())
		}))
		w.calm(r)
		w.calm(r)
		assert.Equal(t, 2, seen)
	})
	t.Run("DryRun", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		r := w.reconciler(c, DryRun(), ObserveComponents(func(component *Component, results deploy.Results) {
			whole(t, component.Objects())
			assert.Equal(t, deploy.Created, results[0].Action)
		}))
		_, _, err := w.once(r)
		require.NoError(t, err)
	})
	t.Run("Plan", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		r := w.reconciler(c)
		w.calm(r)
		w.merge(configMapRef("a"), `{"data": {"key": "spoilt"}}`)
		plan, err := r.Plan(t.Context(), w.widget())
		require.NoError(t, err)
		require.NoError(t, plan.Err())
		difference := plan.Components[0].Differences[0]
		require.Len(t, difference.Changes, 1)
		assert.Equal(t, ".data.key", difference.Changes[0].Path)
		whole(t, plan.Components[0].Component.Objects())
	})
}

func TestDeferredThatIsNone(t *testing.T) {
	t.Parallel()
	content := func(context.Context) (*unstructured.Unstructured, error) { return configMap("a"), nil }
	named := deploy.Ref{Kind: configMaps, Name: "a"}
	for reason, row := range map[string]struct {
		deferred Deferred
		wrong    string
	}{
		"no name":    {Deferred{Ref: deploy.Ref{Kind: configMaps}, Digest: "1", Content: content}, "a deferred object needs a kind, a name, a digest and a content"},
		"no kind":    {Deferred{Ref: deploy.Ref{Name: "a"}, Digest: "1", Content: content}, "a deferred object needs a kind, a name, a digest and a content"},
		"no digest":  {Deferred{Ref: named, Content: content}, "a deferred object needs a kind, a name, a digest and a content"},
		"no content": {Deferred{Ref: named, Digest: "1"}, "a deferred object needs a kind, a name, a digest and a content"},
		"a definition of a kind": {Deferred{Ref: deploy.Ref{Kind: schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}, Name: "a"}, Digest: "1", Content: content},
			"the definition a can't be deferred: add its content"},
		"a content that can't be had": {Deferred{Ref: named, Digest: "1", Content: func(context.Context) (*unstructured.Unstructured, error) {
			return nil, request.Precondition("it is being made")
		}}, "it is being made"},
		"a content that is nil":        {Deferred{Ref: named, Digest: "1", Content: func(context.Context) (*unstructured.Unstructured, error) { return nil, nil }}, "its deferred content is nil"},
		"a content that is empty":      {Deferred{Ref: named, Digest: "1", Content: func(context.Context) (*unstructured.Unstructured, error) { return &unstructured.Unstructured{}, nil }}, "its deferred content is nil"},
		"the content of another one":   {Deferred{Ref: deploy.Ref{Kind: configMaps, Name: "b"}, Digest: "1", Content: content}, "its deferred content is another object, ConfigMap a"},
		"one that panics":              {Deferred{Ref: named, Digest: "1", Content: func(context.Context) (*unstructured.Unstructured, error) { panic("no") }}, "panic: no"},
		"one of the other namespace":   {Deferred{Ref: deploy.Ref{Kind: configMaps, Namespace: "shop", Name: "a"}, Digest: "1", Content: content}, "another object, ConfigMap a"},
		"one that is in it twice":      {Deferred{Ref: deploy.Ref{Kind: configMaps, Name: "whole"}, Digest: "1", Content: content}, "is added twice"},
		"an error that isn't any more": {Deferred{Ref: named, Digest: "1", Content: func(context.Context) (*unstructured.Unstructured, error) { return configMap("a"), errors.New("late") }}, "late"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			for _, option := range [][]Option{nil, {ObserveComponents(func(*Component, deploy.Results) {})}, {DryRun()}} {
				w := newWorld(t)
				_, _, err := w.once(w.reconciler(adding(func(s *Session) { s.Add("c", configMap("whole"), row.deferred) }), option...))
				if row.wrong == "it is being made" {
					require.NoError(t, err, "it waits")
					assert.Contains(t, w.message(), row.wrong)
					continue
				}
				require.ErrorContains(t, err, row.wrong)
				assert.Nil(t, w.get(configMapRef("a")))
			}
		})
	}
}

// revising is a Builder that changes all that it may.
type revising struct{ add func(c *Component) }

func (r revising) Build(_ context.Context, _ *Session, c *Component) error { r.add(c); return nil }

func (revising) Revise(_ context.Context, _ *Session, _ string, content *unstructured.Unstructured) error {
	return unstructured.SetNestedField(content.Object, "revised", "data", "by")
}

// meddling patches every object.
type meddling struct{ applied atomic.Int64 }

func (m *meddling) Patches(context.Context, patching.Target) ([]patching.Patch, error) {
	return []patching.Patch{m}, nil
}

func (*meddling) Name() string { return "meddling" }

func (m *meddling) Apply(_ context.Context, _, _ string, content map[string]any) (map[string]any, bool, error) {
	m.applied.Add(1)
	patched := (&unstructured.Unstructured{Object: content}).DeepCopy()
	return patched.Object, true, unstructured.SetNestedField(patched.Object, "yes", "data", "patched")
}

// What somebody else has rendered is deployed as it is.
func TestFinished(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var asked atomic.Int64
	patches := &meddling{}
	r := w.reconciler(adding(func(s *Session) {
		s.Use("c", revising{func(c *Component) {
			c.Add("mine", configMap("mine"), By(deploy.Recreate))
			c.Add("finished", configMap("finished"), Finished(), By(deploy.Recreate))
			c.Add("deferred", deferring("deferred", "1", &asked), By(deploy.Recreate))
		}})
	}), NameObjects(), WithPatches(patches))
	w.calm(r)
	assert.Equal(t, map[string]any{"key": "value", "patched": "yes", "by": "revised"}, w.get(configMapRef("mine")).Object["data"])
	assert.Equal(t, "c.mine", w.get(configMapRef("mine")).GetAnnotations()["operkit.dev/internal-name"])
	for _, name := range []string{"finished", "deferred"} {
		obj := w.get(configMapRef(name))
		assert.Equal(t, map[string]any{"key": "value"}, obj.Object["data"], name)
		for key := range obj.GetAnnotations() {
			assert.Contains(t, key, "operkit.dev/applied-", "%s: what the Manager marks all with", name)
		}
		assert.Len(t, obj.GetOwnerReferences(), 1, name)
	}
	assert.EqualValues(t, 1, patches.applied.Load())
}

func TestFinishedIsntChanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	given := configMap("a")
	given.SetAnnotations(map[string]string{"mine": "yes"})
	before := given.DeepCopy()
	r := w.reconciler(adding(func(s *Session) { s.Add("c").Add("a", given, Finished()) }), NameObjects())
	w.calm(r)
	assert.Equal(t, before, given)
	assert.Equal(t, "yes", w.get(configMapRef("a")).GetAnnotations()["mine"])
}
