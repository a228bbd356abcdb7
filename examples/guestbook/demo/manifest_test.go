package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestManifest(t *testing.T) {
	t.Parallel()
	const two = "kind: Role\nmetadata: {name: a}\n---\n# nothing\n---\nkind: ClusterRole\nmetadata: {name: b}\n"
	for _, test := range []struct {
		reason, content, name, fails string
	}{
		{reason: "the one of that kind", content: two, name: "b"},
		{reason: "none of that kind", content: "kind: Role\n", fails: "file.yaml: holds no ClusterRole"},
		{reason: "empty", content: "", fails: "file.yaml: holds no ClusterRole"},
		{reason: "no YAML", content: "kind: [", fails: "file.yaml: "},
	} {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "file.yaml")
			require.NoError(t, os.WriteFile(path, []byte(test.content), 0o600))
			obj, err := manifest(path, "ClusterRole")
			if test.fails != "" {
				assert.ErrorContains(t, err, test.fails)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, test.name, obj.GetName())
		})
	}
	_, err := manifest(filepath.Join(t.TempDir(), "file.yaml"), "ClusterRole")
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// What the operator's user gets is what the operator is shipped with.
func TestBinding(t *testing.T) {
	t.Parallel()
	role, err := manifest(filepath.Join("..", "config", "rbac", "role.yaml"), "ClusterRole")
	require.NoError(t, err)
	binding := boundTo(operatorUser, role)
	assert.Equal(t, role.GetName(), binding.Object["roleRef"].(map[string]any)["name"])
	assert.Equal(t, []any{map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": operatorUser}}, binding.Object["subjects"])
}
