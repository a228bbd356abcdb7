package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operkit/operkit/deploy"
)

func TestSets(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.set = "one"
	_, err := s.run(t.Context(), t, two)
	require.NoError(t, err)

	other := s
	other.set = "two"
	lines, err := other.run(t.Context(), t, two)
	require.Error(t, err)
	id := deploy.ApplySet{Parent: deploy.Ref{Namespace: "shop", Name: "one"}}.ID()
	assert.Equal(t, "f.yaml: document 1: ConfigMap shop/a: it is in another set, that of the Secret which "+
		"'kubectl get secrets -A -l applyset.kubernetes.io/id="+id+"' shows: to have it in this one take its label "+
		"applyset.kubernetes.io/part-of off, and it out of the other's files (and 1 more)", err.Error())
	assert.Contains(t, lines[0], "conflict", "the line says the same as the last one")
	assert.Equal(t, "2 conflict", last(lines))

	// What the message says helps.
	for _, name := range []string{"a", "b"} {
		ref := deploy.Ref{Kind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Namespace: "shop", Name: name}
		_, err = s.Port().Patch(t.Context(), ref, deploy.PatchRequest{
			Type: types.MergePatchType, Body: []byte(`{"metadata": {"labels": {"applyset.kubernetes.io/part-of": null}}}`), FieldManager: "kubectl",
		})
		require.NoError(t, err)
	}
	lines, err = other.run(t.Context(), t, two)
	require.NoError(t, err)
	assert.Equal(t, "2 configured", last(lines))
	s.pruneAll = true
	lines, err = s.run(t.Context(), t, "")
	require.NoError(t, err)
	assert.Equal(t, []string{"no objects"}, lines, "the set that they left doesn't touch them")
	s.pruneAll = false

	secret := schema.GroupVersionKind{Version: "v1", Kind: "Secret"}
	s.set = "plain"
	_, err = s.run(t.Context(), t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}`)
	require.NoError(t, err)
	other.set = ""
	_, err = other.run(t.Context(), t, `{apiVersion: v1, kind: Secret, metadata: {name: taken}}`)
	require.NoError(t, err)
	s.set = "taken"
	lines, err = s.run(t.Context(), t, two)
	assert.EqualError(t, err, secret.Kind+" shop/taken: is there already and remembers no set: give --applyset another name, or delete it if nobody needs it")
	assert.Equal(t, []string{"2 not begun"}, lines)
}

func TestPruneAll(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.set = "set"
	_, err := s.run(t.Context(), t, two)
	require.NoError(t, err)
	empty := t.TempDir()
	_, stderr, code := call(t.Context(), "", "-f", empty, "--applyset", "set", "--prune")
	assert.Equal(t, exitInput, code)
	assert.Equal(t, "apply: "+empty+": no object is in there: if everything of the set set is to be deleted, say --prune-all\n", stderr)
	s.pruneAll, s.diff = true, true
	lines, err := s.run(t.Context(), t, "")
	require.NoError(t, err)
	assert.Equal(t, "would be: 2 deleted", last(lines))
	s.diff = false
	lines, err = s.run(t.Context(), t, "")
	require.NoError(t, err)
	assert.Equal(t, "2 deleted", last(lines))
	lines, err = s.run(t.Context(), t, "")
	require.NoError(t, err)
	assert.Equal(t, []string{"no objects"}, lines)
}
