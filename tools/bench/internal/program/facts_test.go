package program_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/operkit/operkit/tools/bench/internal/program"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLines(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		content string
		want    int
	}{
		"what stands on lines of its own": {"package a\n\nfunc f() {\n}\n", 3},
		"several on one line":             {"package a; var x, y = 1, 2", 1},
		"comments":                        {"// Package a is one.\npackage a // here\n\n/* and\nmore */\nvar x int\n", 2},
		"a text of several lines":         {"package a\nvar x = `a\n\nb`\n", 4},
		"nothing":                         {"", 0},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(folder, "a.go"), []byte(row.content), 0o644))
			require.NoError(t, os.WriteFile(filepath.Join(folder, "a_test.go"), []byte("package a\n"), 0o644))
			got, err := program.Lines(folder)
			require.NoError(t, err)
			assert.Equal(t, row.want, got)
		})
	}
	_, err := program.Lines(t.TempDir())
	assert.ErrorContains(t, err, "it has no Go files")
}

func TestProgram(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for name, content := range map[string]string{
		"go.mod":       "module example.com/shop\n\ngo 1.26.0\n\nrequire example.com/cart v0.0.0\n\nreplace example.com/cart => ./cart\n",
		"main.go":      "package main\n\nimport _ \"example.com/cart\"\n\nfunc main() {}\n",
		"cart/go.mod":  "module example.com/cart\n\ngo 1.26.0\n",
		"cart/cart.go": "package cart\n",
	} {
		path := filepath.Join(folder, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	}
	built := filepath.Join(folder, "shop")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", built, ".")
	build.Dir, build.Env = folder, append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))

	modules, err := program.Modules(built)
	require.NoError(t, err)
	assert.Equal(t, 1, modules)
	size, err := program.Size(built)
	require.NoError(t, err)
	assert.Greater(t, size, int64(1<<18))
	missing := filepath.Join(folder, "missing")
	_, err = program.Size(missing)
	assert.ErrorContains(t, err, missing)
	_, err = program.Modules(missing)
	assert.ErrorContains(t, err, missing)
}
