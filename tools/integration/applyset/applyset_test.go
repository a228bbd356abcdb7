package applyset

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/tools/envtest"
)

// We keep a set, and kubectl goes on with it: it finds all that we made, and we find all that it made then.
func TestKubectlTakesOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ours := []*unstructured.Unstructured{object(t, settings, "a"), object(t, settings, "b"), object(t, web, "web")}
	require.Empty(t, w.apply(t, w.set(), ours))
	mark := w.env.Mark(t)
	require.Empty(t, w.apply(t, w.set(), ours))
	assert.Empty(t, w.env.CallsSince(t, mark, w.env.Self).Writes(), "an unchanged set is read only")
	assert.Equal(t, []string{"configmap/b"}, w.apply(t, w.set(), []*unstructured.Unstructured{ours[0], ours[2]}))
	w.remembers(t, w.set(), "ConfigMap,Deployment.apps")

	theirs := []*unstructured.Unstructured{object(t, settings, "k"), object(t, account, "k")}
	assert.Equal(t, []string{"configmap/a", "deployment.apps/web"}, w.kubectlApplies(t, theirs))
	assert.Nil(t, w.get(t, w.named(configs, "a")))
	assert.Equal(t, w.set().ID(), w.get(t, w.named(configs, "k")).GetLabels()[deploy.PartOfLabel])
	w.remembers(t, w.set(), "ConfigMap,ServiceAccount")

	assert.Equal(t, []string{"configmap/k", "serviceaccount/k"}, w.apply(t, w.set(), []*unstructured.Unstructured{ours[0]}))
	assert.Nil(t, w.get(t, w.named(configs, "k")))
	w.remembers(t, w.set(), "ConfigMap")
}

// kubectl keeps a set, and we go on with it.
func TestWeTakeOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	objects := []*unstructured.Unstructured{object(t, settings, "a"), object(t, settings, "b"), object(t, web, "web"), object(t, account, "web")}
	require.Empty(t, w.kubectlApplies(t, objects))
	w.remembers(t, w.set(), "ConfigMap,Deployment.apps,ServiceAccount")
	before := w.get(t, w.named(configs, "a"))

	assert.Equal(t, []string{"configmap/b", "serviceaccount/web"}, w.apply(t, w.set(), []*unstructured.Unstructured{objects[0], objects[2]}))
	assert.Equal(t, before.GetUID(), w.get(t, w.named(configs, "a")).GetUID(), "what stays is the same object")
	w.remembers(t, w.set(), "ConfigMap,Deployment.apps")

	assert.Equal(t, []string{"deployment.apps/web"}, w.kubectlApplies(t, objects[:2]))
	w.remembers(t, w.set(), "ConfigMap")
}

// What a dry run would prune is what kubectl would prune.
func TestSameCandidates(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	objects := []*unstructured.Unstructured{object(t, settings, "a"), object(t, settings, "b"), object(t, web, "web"), object(t, account, "web")}
	require.Empty(t, w.apply(t, w.set(), objects))
	for kept := 1; kept < len(objects); kept++ {
		ours := w.apply(t, w.set(), objects[:kept], deploy.DryRun())
		assert.Len(t, ours, len(objects)-kept)
		assert.Equal(t, w.kubectlApplies(t, objects[:kept], "--dry-run=server"), ours, "%d of the objects", kept)
	}
	w.remembers(t, w.set(), "ConfigMap,Deployment.apps,ServiceAccount")
	assert.NotNil(t, w.get(t, w.named(configs, "b")))
}

// An object that is there doesn't become a parent by itself. Once it is one, both know the set by the same name, whatever
// the kind of the parent is.
func TestParentOfAnotherKind(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.manager.Apply(t.Context(), []*unstructured.Unstructured{object(t, settings, "kept")})
	require.NoError(t, err)
	set := deploy.ApplySet{Parent: w.named(configs, "kept"), Tooling: w.set().Tooling}
	first, second := []*unstructured.Unstructured{object(t, account, "a")}, []*unstructured.Unstructured{object(t, account, "b")}
	answer := w.run(t, "configmaps/kept", first)
	assert.NotZero(t, answer.Code, "%s", answer)
	_, err = w.manager.ApplySet(t.Context(), set, first)
	var owned *deploy.OwnedError
	require.ErrorAs(t, err, &owned)
	assert.Equal(t, set.Parent, owned.Ref)

	set.Adopt = true
	require.Empty(t, w.apply(t, set, first))
	answer = w.run(t, "configmaps/kept", second)
	require.Zero(t, answer.Code, "%s", answer)
	assert.Contains(t, answer.Stdout, "serviceaccount/a pruned")
	assert.Equal(t, set.ID(), w.get(t, set.Parent).GetLabels()[deploy.SetIDLabel])
	set.Adopt = false
	assert.Equal(t, []string{"serviceaccount/b"}, w.apply(t, set, first))
	assert.NotEmpty(t, w.get(t, set.Parent).Object["data"], "the content of the parent stays")
}

// Members in other namespaces than the parent's are found by both.
func TestOtherNamespaces(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	other := envtest.Start(t).Namespace
	w := worldOf(t, env, env.Admin)
	away := func(name string) *unstructured.Unstructured {
		obj := object(t, settings, name)
		obj.SetNamespace(other)
		return obj
	}
	require.Empty(t, w.apply(t, w.set(), []*unstructured.Unstructured{object(t, settings, "a"), away("a"), away("b")}))
	parent := w.get(t, w.named(secrets, "folder"))
	assert.Equal(t, other, parent.GetAnnotations()[deploy.SetNamespacesAnnotation])
	assert.Equal(t, []string{"configmap/b"}, w.apply(t, w.set(), []*unstructured.Unstructured{object(t, settings, "a"), away("a")}))
	assert.Equal(t, []string{"configmap/a"}, w.kubectlApplies(t, []*unstructured.Unstructured{object(t, settings, "a")}))
	assert.Nil(t, w.get(t, deploy.RefOf(away("a"))))
	assert.NotNil(t, w.get(t, w.named(configs, "a")))
	parent = w.get(t, w.named(secrets, "folder"))
	assert.Empty(t, parent.GetAnnotations()[deploy.SetNamespacesAnnotation])
}

// Neither takes the sets of another tool, nor the members of another set.
func TestOfOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	set := w.set()
	set.Tooling = "operkit/v1"
	require.Empty(t, w.apply(t, set, []*unstructured.Unstructured{object(t, settings, "a")}))
	before := w.get(t, w.named(secrets, "folder"))
	answer := w.run(t, "folder", []*unstructured.Unstructured{object(t, settings, "b")})
	assert.NotZero(t, answer.Code, "%s", answer)
	assert.Contains(t, answer.Stderr, `managed by tooling "operkit"`)
	assert.Equal(t, before, w.get(t, w.named(secrets, "folder")), "the parent is as it was")
	assert.Nil(t, w.get(t, w.named(configs, "b")))

	answer = w.run(t, "another", []*unstructured.Unstructured{object(t, settings, "b")})
	require.Zero(t, answer.Code, "%s", answer)
	var owned *deploy.OwnedError
	for name, objects := range map[string][]*unstructured.Unstructured{
		"another": {object(t, settings, "c")}, // kubectl's set
		"third":   {object(t, settings, "b")}, // a member of kubectl's set
	} {
		_, err := w.manager.ApplySet(t.Context(), deploy.ApplySet{Parent: deploy.Ref{Namespace: w.env.Namespace, Name: name}}, objects)
		require.ErrorAs(t, err, &owned, name)
	}
	assert.Nil(t, w.get(t, w.named(configs, "c")))
	another := deploy.ApplySet{Parent: deploy.Ref{Namespace: w.env.Namespace, Name: "another"}}
	assert.Equal(t, another.ID(), w.get(t, w.named(configs, "b")).GetLabels()[deploy.PartOfLabel])
}
