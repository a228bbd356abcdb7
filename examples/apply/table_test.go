package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/deploy"
)

func TestLinesOfObjectsWithoutNames(t *testing.T) {
	t.Parallel()
	lines, err := newShelf(t).run(t.Context(), t, nameless+"---\nmetadata: {name: x}\n---\n"+nameless)
	require.Error(t, err)
	var got []string
	for _, line := range lines {
		got = append(got, strings.Join(strings.Fields(line), " "))
	}
	assert.ElementsMatch(t, []string{
		"ConfigMap (no name) failed f.yaml: document 1", "(no kind) x failed", "ConfigMap (no name) failed f.yaml: document 3", "3 failed",
	}, got)
}

func TestGenerateName(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	text := `{apiVersion: v1, kind: ConfigMap, metadata: {generateName: run-, annotations: {operkit.dev/strategy: CreateOnly}}}`
	for _, want := range []string{"1 created", "1 unchanged"} {
		lines, err := s.run(t.Context(), t, text)
		require.NoError(t, err)
		assert.Contains(t, lines[0], "ConfigMap shop/run-", "under the name that the cluster gave it")
		assert.Equal(t, []string{want}, lines[1:])
	}
}

// On a terminal the table is drawn over the last one, in lines that fit.
func TestDraw(t *testing.T) {
	t.Parallel()
	manifests, err := decode("f.yaml", []byte(two))
	require.NoError(t, err)
	var out bytes.Buffer
	p := &progress{out: &out, live: true, columns: 61, table: newTable(manifests)}
	p.draw()
	assert.Equal(t, "\x1b[2KConfigMap a\n\x1b[2KConfigMap shop/b\n", out.String())
	out.Reset()
	p.applied(deploy.Result{Ref: deploy.Ref{Kind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Namespace: "shop", Name: "a"}, Action: deploy.Unchanged})
	name := "ConfigMap shop/a" + strings.Repeat(" ", 50-len("ConfigMap shop/a"))
	assert.Equal(t, "\x1b[2A\x1b[2K"+name+" unchanged\n\x1b[2KConfigMap shop/b\n", out.String())
	require.NoError(t, p.end())
	assert.True(t, strings.HasSuffix(out.String(), "1 unchanged, 1 not begun\n"))
}
