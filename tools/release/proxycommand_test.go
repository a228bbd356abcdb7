package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/tools/release/internal/repotest"
)

// What the command prints has a shell elsewhere use the modules of the working tree.
func TestProxyCommand(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, repotest.Standard())
	do := in(r.Root, nil)
	for _, args := range [][]string{{"proxy"}, {"proxy", filepath.Join(t.TempDir(), "it's", "a proxy")}} {
		lines := do(t, args...)
		require.Equal(t, 0, lines.code, lines.stderr)
		assert.Regexp(t, `\Aunset GOPRIVATE GONOPROXY\nexport GOPROXY='file:///[^\n]+'\nexport GONOSUMDB='[^\n]+'\n\z`, lines.stdout)
		consumer := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(consumer, "go.mod"), []byte("module example.com/consumer\n\ngo 1.26.0\n"), 0o600))
		shell := exec.CommandContext(t.Context(), "sh", "-ec", lines.stdout+"go get "+repotest.Prefix+"middle@latest")
		shell.Dir = consumer
		shell.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-modcacherw", "GOMODCACHE="+filepath.Join(consumer, "cache"), "GOPRIVATE="+repotest.Prefix+"*")
		out, err := shell.CombinedOutput()
		require.NoError(t, err, string(out))
		assert.Contains(t, string(out), "added "+repotest.Prefix+"middle v0.0.0-")
	}
	wrong := do(t, "proxy", "a", "b")
	assert.Equal(t, 2, wrong.code)
	assert.Contains(t, wrong.stderr, "give one folder")
	unwritable := do(t, "proxy", filepath.Join(r.Root, "top", "go.mod"))
	assert.Equal(t, 1, unwritable.code)
	assert.Contains(t, unwritable.stderr, "go.mod")
	assert.Empty(t, unwritable.stdout)
}
