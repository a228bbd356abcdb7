package deploy_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// standIn stands for the ConfigMap shop/settings.
func standIn(t testing.TB, digest string) *unstructured.Unstructured {
	t.Helper()
	return object(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: shop}\ndigest: "+digest)
}

// library holds the content of shop/settings and counts how often it is asked for.
type library struct {
	content *unstructured.Unstructured
	err     error
	asked   atomic.Int64
}

func (l *library) option() deploy.Option {
	return deploy.Contents(func(context.Context, *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		l.asked.Add(1)
		return l.content, l.err
	})
}

// The content of a stand-in is asked for when the cluster may have to be changed, and only then.
func TestContentsAreAskedForWhenNeeded(t *testing.T) {
	t.Parallel()
	settingsRef := deploy.Ref{Kind: configMap, Namespace: "shop", Name: "settings"}
	for name, test := range map[string]struct {
		// between happens after the first apply, in a cluster where the object is known to be as it should be.
		between func(t *testing.T, cluster *recording, l *library)
		digest  string
		options []deploy.Option
		asked   int64
		action  deploy.Action
	}{
		"nothing has changed":                {func(*testing.T, *recording, *library) {}, "one", nil, 0, deploy.Unchanged},
		"another digest":                     {func(_ *testing.T, _ *recording, l *library) { l.content = settings(t, "{a: other}") }, "two", nil, 1, deploy.Configured},
		"another digest of the same content": {func(*testing.T, *recording, *library) {}, "two", nil, 1, deploy.Unchanged},
		"somebody has changed the object": {func(t *testing.T, cluster *recording, _ *library) {
			_, err := cluster.memory.Port().Patch(t.Context(), settingsRef, deploy.PatchRequest{Type: types.MergePatchType, Body: []byte(`{"data":{"a":"spoilt"}}`), FieldManager: "somebody"})
			require.NoError(t, err)
		}, "one", nil, 1, deploy.Configured},
		"somebody has deleted the object": {func(t *testing.T, cluster *recording, _ *library) {
			require.NoError(t, cluster.memory.Port().Delete(t.Context(), settingsRef, deploy.DeleteOptions{}))
		}, "one", nil, 1, deploy.Created},
		"other settings":                    {func(*testing.T, *recording, *library) {}, "one", []deploy.Option{deploy.KeyDomain("example.com")}, 1, deploy.Configured},
		"a dry run compares with the whole": {func(*testing.T, *recording, *library) {}, "one", []deploy.Option{deploy.DryRun()}, 1, deploy.Unchanged},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := newCluster(t)
			l := &library{content: settings(t, "{a: x}")}
			m := must(deploy.NewManager(cluster, l.option()))
			require.NoError(t, apply(t, m, standIn(t, "one")).Err)
			require.EqualValues(t, 1, l.asked.Load(), "it has to be made of its content")
			require.NoError(t, apply(t, m, standIn(t, "one")).Err)
			require.EqualValues(t, 1, l.asked.Load(), "what was applied is known")
			test.between(t, cluster, l)
			result := apply(t, m, standIn(t, test.digest), test.options...)
			require.NoError(t, result.Err)
			assert.Equal(t, test.asked, l.asked.Load()-1)
			assert.Equal(t, test.action, result.Action)
			assert.Equal(t, "settings", result.Object.GetName())
			assert.NotContains(t, result.Object.Object, "digest", "what stands for an object never gets into the cluster")
		})
	}
}

// What can't be what a stand-in stands for is an error of that object, and nothing is sent.
func TestContentsThatAreNone(t *testing.T) {
	t.Parallel()
	moved := settings(t, "{}")
	moved.SetNamespace("attic")
	kindless := settings(t, "{}")
	kindless.SetKind("Secret")
	definition := object(t, "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: carts.example.com}")
	nameless := object(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: settings-, namespace: shop}")
	for name, test := range map[string]struct {
		standIn, content *unstructured.Unstructured
		err              error
		wrong            string
	}{
		"an error of whoever has it":  {standIn(t, "one"), nil, errNo, "ConfigMap shop/settings: its content: no"},
		"nil":                         {standIn(t, "one"), nil, nil, "its content is nil"},
		"an object that is empty":     {standIn(t, "one"), &unstructured.Unstructured{}, nil, "its content is nil"},
		"another object":              {standIn(t, "one"), named(settings(t, "{}"), "other"), nil, "its content belongs to another object, ConfigMap shop/other"},
		"one of another namespace":    {standIn(t, "one"), moved, nil, "its content belongs to another object, ConfigMap attic/settings"},
		"one of another kind":         {standIn(t, "one"), kindless, nil, "its content belongs to another object, Secret shop/settings"},
		"a definition of a kind":      {definition, definition.DeepCopy(), nil, "a CustomResourceDefinition can't have a stand-in"},
		"an object that has no name":  {nameless, nameless.DeepCopy(), nil, "a stand-in needs a name"},
		"an object without a version": {object(t, "kind: ConfigMap\nmetadata: {name: settings, namespace: shop}"), settings(t, "{}"), nil, "another object"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := newCluster(t)
			l := &library{content: test.content, err: test.err}
			m := must(deploy.NewManager(cluster, l.option()))
			for range 2 {
				result := apply(t, m, test.standIn)
				assert.ErrorContains(t, result.Err, test.wrong)
				assert.Equal(t, deploy.Failed, result.Action)
			}
			assert.EqualValues(t, 2, l.asked.Load(), "it may be there the next time")
			assert.Empty(t, cluster.memory.Objects())
			if test.err != nil {
				assert.ErrorIs(t, apply(t, m, test.standIn).Err, errNo, "callers branch on it")
			}
		})
	}
}

// Objects that are no stand-ins go along with others, and those that nobody may stand for too.
func TestContentsOfWhatIsNoStandIn(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	whole := named(settings(t, "{a: x}"), "whole")
	definition := object(t, `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: carts.example.com},
		spec: {group: example.com, names: {kind: Cart, plural: carts}, scope: Namespaced, versions: [{name: v1, served: true, storage: true}]}}`)
	stood := settings(t, "{a: b}")
	m := must(deploy.NewManager(cluster, deploy.Contents(func(_ context.Context, of *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		if of.Object["digest"] == nil {
			return of, nil
		}
		return stood, nil
	})))
	for _, want := range []deploy.Action{deploy.Created, deploy.Unchanged} {
		results, err := m.Apply(t.Context(), objects(whole, definition, standIn(t, "one")))
		require.NoError(t, err)
		for _, result := range results {
			assert.Equal(t, want, result.Action, result.Ref)
		}
	}
	got, err := cluster.memory.View().Get(t.Context(), deploy.Ref{Kind: configMap, Namespace: "shop", Name: "settings"})
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"a": "b"}, got.Object["data"])
	assert.NotContains(t, stood.GetAnnotations(), "operkit.dev/applied-operkit", "the content isn't changed")
}

// stoodFor answers with content for what has a digest, and with the object itself for all else.
func stoodFor(content *unstructured.Unstructured) deploy.Option {
	return deploy.Contents(func(_ context.Context, of *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		if of.Object["digest"] == nil {
			return of, nil
		}
		return content, nil
	})
}

// What a stand-in of a set stands for is a member as all others are: it is found when it leaves the set.
func TestContentsOfASet(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	set := deploy.ApplySet{Parent: deploy.Ref{Namespace: "shop", Name: "set"}}
	content, whole := settings(t, "{a: x}"), named(settings(t, "{b: y}"), "whole")
	m := must(deploy.NewManager(cluster, stoodFor(content)))
	for _, want := range []deploy.Action{deploy.Created, deploy.Unchanged} {
		results, err := m.ApplySet(t.Context(), set, objects(standIn(t, "one"), whole))
		require.NoError(t, err)
		assert.Equal(t, []deploy.Action{want, want}, actions(results.Applied))
		live := cluster.get(t, settingsRef)
		assert.Equal(t, map[string]string{deploy.PartOfLabel: set.ID()}, live.GetLabels())
		assert.Equal(t, map[string]any{"a": "x"}, live.Object["data"])
	}
	assert.Empty(t, content.GetLabels(), "the content isn't changed")
	differences, err := m.DiffSet(t.Context(), set, objects(standIn(t, "two"), whole))
	require.NoError(t, err)
	assert.False(t, differences.Changed(), "another digest of the same content")

	results, err := m.ApplySet(t.Context(), set, objects(whole))
	require.NoError(t, err)
	_, pruned := actionsOf(results)
	assert.Equal(t, []string{settingsName + " deleted"}, pruned)
	assert.Nil(t, cluster.get(t, settingsRef))

	content.SetLabels(map[string]string{deploy.PartOfLabel: "other"})
	_, err = m.ApplySet(t.Context(), set, objects(standIn(t, "one"), whole))
	require.ErrorContains(t, err, "its label "+deploy.PartOfLabel+" names another set, other: leave the label out")
	assert.Nil(t, cluster.get(t, settingsRef))
}

// A difference shows what a stand-in stands for, also where it can't be tried yet.
func TestDiffOfContents(t *testing.T) {
	t.Parallel()
	for reason, before := range map[string]func(string) error{
		"tried":                     nil,
		"its namespace isn't there": failing("apply ConfigMap", &deploy.NotFoundError{Ref: settingsRef, Err: errNo}),
	} {
		cluster := newCluster(t)
		cluster.before = before
		m := must(deploy.NewManager(cluster, stoodFor(settings(t, "{a: x}"))))
		differences, err := m.Diff(t.Context(), objects(standIn(t, "one"), object(t, "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}")))
		require.NoError(t, err, reason)
		assert.Equal(t, deploy.Created, differences[0].Action, reason)
		assert.Contains(t, differences[0].Unified, "+  a: x\n", reason)
		assert.NotContains(t, differences[0].Unified, "digest", reason)
	}
}

// A stand-in that failed once is asked about again; several are asked about at once.
func TestContentsAfterAFailure(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	l := &library{err: errors.New("its process has ended")}
	m := must(deploy.NewManager(cluster, l.option()))
	require.Error(t, apply(t, m, standIn(t, "one")).Err)
	l.content, l.err = settings(t, "{a: x}"), nil
	assert.Equal(t, deploy.Created, apply(t, m, standIn(t, "one")).Action)

	var standIns []*unstructured.Unstructured
	for i := range 50 {
		standIns = append(standIns, named(standIn(t, "one"), "s"+string(rune('A'+i))))
	}
	m = must(m.With(deploy.Contents(func(_ context.Context, of *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		return named(settings(t, "{a: x}"), of.GetName()), nil
	}), deploy.Concurrency(8)))
	_, err := m.Apply(t.Context(), standIns)
	require.NoError(t, err)
	assert.Len(t, cluster.memory.Objects(), 51)
}

// The number of a content is that of all that is equal, and of nothing else (within one process).
func TestFingerprintOfContents(t *testing.T) {
	t.Parallel()
	content := func() map[string]any {
		return map[string]any{"a": int64(1), "b": []any{"x", nil, true, 1.5}, "c": map[string]any{"d": "e", "f": map[string]any{}}}
	}
	same, ok := deploy.Fingerprint(content())
	require.True(t, ok)
	seen := map[uint64]string{same: "itself"}
	again, ok := deploy.Fingerprint(content())
	require.True(t, ok)
	assert.Equal(t, same, again, "equal contents are told by one number")
	for reason, change := range map[string]func(c map[string]any){
		"a number":                     func(c map[string]any) { c["a"] = int64(2) },
		"a number that is a float":     func(c map[string]any) { c["a"] = 1.0 },
		"a text in place of a number":  func(c map[string]any) { c["a"] = "1" },
		"one more field":               func(c map[string]any) { c["z"] = nil },
		"one field less":               func(c map[string]any) { delete(c, "a") },
		"the order of a list":          func(c map[string]any) { c["b"] = []any{nil, "x", true, 1.5} },
		"false":                        func(c map[string]any) { c["b"] = []any{"x", nil, false, 1.5} },
		"an empty list for no list":    func(c map[string]any) { c["b"] = []any{} },
		"an empty map is no list":      func(c map[string]any) { c["b"] = map[string]any{} },
		"null is no empty text":        func(c map[string]any) { c["b"] = []any{"x", "", true, 1.5} },
		"values of two keys exchanged": func(c map[string]any) { c["c"] = map[string]any{"d": map[string]any{}, "f": "e"} },
	} {
		c := content()
		change(c)
		number, ok := deploy.Fingerprint(c)
		require.True(t, ok, reason)
		assert.NotContains(t, seen, number, reason)
		seen[number] = reason
	}
	for reason, value := range map[string]any{
		"no JSON value": struct{}{}, "a typed list": []string{"x"}, "a value of a type of its own": schema.GroupKind{}, "bytes": []byte("x"),
	} {
		_, ok := deploy.Fingerprint(map[string]any{"a": []any{value}})
		assert.False(t, ok, reason)
	}
	endless := map[string]any{}
	endless["self"] = endless
	_, ok = deploy.Fingerprint(endless)
	assert.False(t, ok, "what contains itself has none, and is found out")
}
