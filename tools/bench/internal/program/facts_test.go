package program_test

import (
	"os"
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
	self, err := os.Executable()
	require.NoError(t, err)
	size, err := program.Size(self)
	require.NoError(t, err)
	assert.Greater(t, size, int64(1<<20))
	modules, err := program.Modules(self)
	require.NoError(t, err)
	assert.Positive(t, modules)
	missing := filepath.Join(t.TempDir(), "missing")
	_, err = program.Size(missing)
	assert.ErrorContains(t, err, missing)
	_, err = program.Modules(missing)
	assert.ErrorContains(t, err, missing)
}
