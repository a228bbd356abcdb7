package build

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestHashNamesWhatABuildWouldGive(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		file    string
		text    string
		goTool  string
		changes bool
	}{
		"nothing":                     {},
		"a source":                    {file: "main.go", text: "package main // edited", changes: true},
		"a source in a folder":        {file: "internal/x/x.go", text: "package x", changes: true},
		"the requirements":            {file: "go.mod", text: "module other", changes: true},
		"the sums":                    {file: "go.sum", text: "x", changes: true},
		"how it is compiled":          {file: "build.env", text: "X=y", changes: true},
		"a file that may be embedded": {file: "policy.yaml", text: "x", changes: true},
		"another Go":                  {goTool: "go1.27.0", changes: true},
		"a test":                      {file: "main_test.go", text: "package main"},
		"a text":                      {file: "README.md", text: "read me"},
		"a budget":                    {file: "budget.txt", text: "modules 1"},
		"test data":                   {file: "testdata/x.go", text: "package x"},
		"what is hidden":              {file: ".git/config", text: "x"},
		"a module in the module":      {file: "e2e/go.mod", text: "module e2e"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, filepath.Join(dir, "go.mod"), "module m", 0o600)
			write(t, filepath.Join(dir, "main.go"), "package main", 0o600)
			before, err := Hash(dir, "go1.26.8", "linux", "amd64")
			require.NoError(t, err)
			assert.Regexp(t, "^[0-9a-f]{16}$", before)
			if test.file != "" {
				write(t, filepath.Join(dir, test.file), test.text, 0o600)
			}
			goTool := "go1.26.8"
			if test.goTool != "" {
				goTool = test.goTool
			}
			after, err := Hash(dir, goTool, "linux", "amd64")
			require.NoError(t, err)
			assert.Equal(t, test.changes, before != after)
		})
	}
}

func TestHashTellsTreesApart(t *testing.T) {
	t.Parallel()
	one, two := t.TempDir(), t.TempDir()
	write(t, filepath.Join(one, "a.go"), "xb.go 1\ny", 0o600)
	write(t, filepath.Join(two, "a.go"), "x", 0o600)
	write(t, filepath.Join(two, "b.go"), "y", 0o600)
	first, err := Hash(one, "go", "linux", "amd64")
	require.NoError(t, err)
	second, err := Hash(two, "go", "linux", "amd64")
	require.NoError(t, err)
	assert.NotEqual(t, first, second)
	elsewhere, err := Hash(two, "go", "linux", "arm64")
	require.NoError(t, err)
	assert.NotEqual(t, second, elsewhere)

	_, err = Hash(filepath.Join(one, "absent"), "go", "linux", "amd64")
	assert.ErrorContains(t, err, "devcluster source: ")
}
