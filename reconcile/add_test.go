package reconcile

import (
	"context"
	"testing"

	"github.com/operkit/operkit/dag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestAdd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.inSetup(func(_ context.Context, s *Session) {
		first, second := configMap("a"), configMap("b")
		c := s.Add("c", first, second)
		assert.Equal(t, "c", c.Name())
		assert.False(t, c.Disabled())
		assert.Equal(t, []*unstructured.Unstructured{first, second}, c.Objects())
		c.Objects()[0] = nil
		assert.Equal(t, []*unstructured.Unstructured{first, second}, c.Objects(), "the component keeps its own list")
		assert.True(t, s.Add("d").Disable().Disabled())
	})
	applied := w.get(configMapRef("a"))
	require.NotNil(t, applied, "it is in the namespace of the resource")
	require.Len(t, applied.GetOwnerReferences(), 1)
	assert.Equal(t, widgetUID, applied.GetOwnerReferences()[0].UID)
}

func TestObjectsAreNotMutated(t *testing.T) {
	t.Parallel()
	given := configMap("a")
	before := given.DeepCopy()
	newWorld(t).inSetup(func(_ context.Context, s *Session) { s.Add("c", given) })
	assert.Equal(t, before, given, "reconcile 11: namespace, owner and annotations go to copies")
}

func cycle(path ...string) string { return (&dag.CycleError{Path: path}).Error() }

// Every mistake of Setup is one of the operator's author: the resource says so, and nothing
// has been written besides.
func TestAddMistakes(t *testing.T) {
	t.Parallel()
	elsewhere := configMap("b")
	elsewhere.SetNamespace("shop")
	for _, row := range []struct {
		reason string
		add    func(s *Session)
		want   string
	}{
		{"reconcile 8: two components of one name", func(s *Session) { s.Add("c", configMap("a")); s.Add("c", configMap("b")) }, "component c: is added twice"},
		{"reconcile 10: no name", func(s *Session) { s.Add("", configMap("a")) }, "a component has no name"},
		{"reconcile 10: no name, twice", func(s *Session) { s.Add(""); s.Add("") }, "a component has no name\na component has no name"},
		{"a nil object", func(s *Session) { s.Add("c", nil) }, "component c: an object is nil"},
		{"an object without kind", func(s *Session) { s.Add("c", map[string]any{"metadata": map[string]any{"name": "x"}}) },
			`component c: an object of type map[string]interface {} (name "x") has no apiVersion and kind: set its TypeMeta or use an apply configuration`},
		{"no object at all", func(s *Session) { s.Add("c", 42) },
			"component c: a value of type int isn't an object: pass an API struct, an apply configuration, or a plain object"},
		{"one object in two components", func(s *Session) { s.Add("c", configMap("a"), configMap("b")); s.Add("d", elsewhere) },
			"component d: ConfigMap shop/b is in component c already: remove it from one of them"},
		{"one object in two components, of which one is disabled", func(s *Session) { s.Add("c", configMap("b")).Disable(); s.Add("d", elsewhere) },
			"component d: ConfigMap shop/b is in component c already: remove it from one of them"},
		{"one object twice in a component", func(s *Session) { s.Add("c", configMap("b"), elsewhere) }, "component c: object configmap/b: is added twice"},
		{"reconcile 9: it waits for nothing", func(s *Session) { s.Add("c").After(nil) }, "component c: waits for a nil component"},
		{"reconcile 9: a gate that is nil", func(s *Session) { s.Add("c").After(s.Add("d"), nil) }, "component c: waits for d with a nil gate"},
		{"reconcile 9: a component of another session", func(s *Session) { s.Add("c").After((&Session{reconciler: &Reconciler{}, resource: widget()}).Add("d")) },
			"component c: waits for d, which belongs to another session"},
		{"reconcile 9: the one that is waited for is disabled", func(s *Session) { s.Add("web").After(s.Add("redis").Disable()) },
			"component web: waits for redis although redis is disabled: remove that dependency"},
		{"reconcile 9: the one that waits is disabled", func(s *Session) { s.Add("web").Disable().After(s.Add("redis")) },
			"component web: waits for redis although web is disabled: remove that dependency"},
		{"reconcile 9, mistake 20: a cycle, with its path", func(s *Session) {
			a, b, c := s.Add("a"), s.Add("b"), s.Add("c")
			a.After(b)
			b.After(c)
			c.After(a)
		}, "component c: " + cycle("c", "a", "b", "c")},
		{"reconcile 9: a component that waits for itself", func(s *Session) { a := s.Add("a"); a.After(a) },
			"component a: " + cycle("a", "a")},
		{"all of them together", func(s *Session) { s.Add("c", nil, "x") },
			"component c: an object is nil\ncomponent c: a value of type string isn't an object: pass an API struct, an apply configuration, or a plain object"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			calls, _, err := w.once(w.reconciler(adding(row.add)))
			assert.EqualError(t, err, row.want)
			assert.Equal(t, []string{writeStatus}, calls, "nothing but the status is written")
			assert.Equal(t, "Errored/Errored", w.verdict(), "status 14: a mistake in the rollout")
			assert.Equal(t, row.want, w.message())
		})
	}
}

func TestAddYAML(t *testing.T) {
	t.Parallel()
	const two = "# two\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {n: '1'}\n---\n---\napiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}\n"
	t.Run("reconcile 11: all objects of the text", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.calm(w.reconciler(adding(func(s *Session) {
			c := s.Add("c", YAML(two))
			c.Add("third", YAML("{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}"))
			assert.Equal(t, "configmap/a", c.objects[0].Name())
		})))
		for _, name := range []string{"a", "b", "c"} {
			assert.NotNil(t, w.get(configMapRef(name)), name)
		}
	})
	for reason, row := range map[string]struct {
		add  func(s *Session)
		want string
	}{
		"a key twice":                  {func(s *Session) { s.Add("c", YAML("apiVersion: v1\nkind: A\nkind: B\n")) }, `component c: YAML: line 3: key "kind" already set in map`},
		"no YAML, in a later document": {func(s *Session) { s.Add("c", YAML(two+"---\na: [\n")) }, "component c: YAML: line 1"},
		"no object":                    {func(s *Session) { s.Add("c", YAML("---\n# nothing\n")) }, "component c: YAML: the text holds no object"},
		"text":                         {func(s *Session) { s.Add("c", YAML("a\n")) }, "component c: YAML: line 1: is text, not an object"},
		"several under one name":       {func(s *Session) { s.Add("c").Add("one", YAML(two)) }, "component c: YAML: the text holds 2 objects: add each by a name of its own, or all by Session.Add"},
		"no kind":                      {func(s *Session) { s.Add("c", YAML("metadata: {name: a}")) }, "component c: an object of type *unstructured.Unstructured (name \"a\") has no apiVersion and kind"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			calls, _, err := w.once(w.reconciler(adding(row.add)))
			require.ErrorContains(t, err, row.want)
			assert.Equal(t, []string{writeStatus}, calls)
		})
	}
}
