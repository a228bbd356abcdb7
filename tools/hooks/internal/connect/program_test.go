package connect_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/operkit/operkit/tools/hooks/internal/connect"
	"github.com/operkit/operkit/tools/hooks/internal/definition"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestProgram(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "hooks"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "hooks", "hook"), []byte("#!/bin/sh\npwd; echo $COLOR; ulimit -d\n"), 0o700))
	file := filepath.Join(dir, "controllers.yaml")
	call := func(exec string) (string, error) {
		require.NoError(t, os.WriteFile(file, []byte(`
apiVersion: metacontroller.k8s.io/v1alpha1
kind: CompositeController
metadata: {name: a}
spec: {parentResource: {apiVersion: v1, resource: pods}, hooks: {sync: {exec: {command: [./hook], `+exec+`}}}}
`), 0o600))
		found, err := definition.ReadFiles(file)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		hook, err := connect.Hook(ctx, nil, found[0], found[0].Hooks.Sync)
		if err != nil {
			return "", err
		}
		response, err := hook.Call(ctx, "", nil)
		return string(response), err
	}
	t.Run("hooks 20: its folder, its environment and its memory are those of the definition", func(t *testing.T) {
		got, err := call("workingDir: hooks, env: [{name: COLOR, value: blue}], memory: 64Mi")
		require.NoError(t, err)
		assert.Equal(t, filepath.Join(dir, "hooks")+"\nblue\n65536\n", got)
		got, err = call("workingDir: " + filepath.Join(dir, "hooks") + ", memory: 1Gi")
		require.NoError(t, err)
		assert.Equal(t, filepath.Join(dir, "hooks")+"\n\n1048576\n", got, "or an absolute folder")
	})
	t.Run("hooks 20: a program that isn't there", func(t *testing.T) {
		_, err := call("timeout: 1s")
		assert.ErrorContains(t, err, "hook ./hook: ")
	})
}
