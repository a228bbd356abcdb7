package publication_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/tools/release/internal/publication"
	"github.com/operkit/operkit/tools/release/internal/repotest"
)

// TestSums: go.sum has the contents of a sibling whose packages are imported, by tests of neighbours too, and of one
// that is only required its go.mod.
func TestSums(t *testing.T) {
	t.Parallel()
	const deep = "package deep\n\nimport _ \"example.com/kit/aside\"\n"
	for _, row := range []struct {
		reason, name, text string
		needed             bool
	}{
		{"an import", "middle/a.go", deep, true},
		{"an import on another system", "middle/a_windows.go", "//go:build windows && never\n\n" + deep, true},
		{"of a test", "middle/a_test.go", deep, true},
		{"of a test of what it imports", "ground/a_test.go", deep, true},
		{"of a program for go run", "middle/a.go", "//go:build ignore\n\n" + deep, false},
		{"of data of tests", "middle/testdata/a.go", deep, false},
		{"of what the go command doesn't see", "middle/_x/a.go", deep, false},
		{"of a module that requires it", "top/a.go", "package main\n\nimport _ \"example.com/kit/aside\"\n", false},
		{"a tool", "middle/go.mod", repotest.Mod("middle", "ground", "aside // indirect") + "\ntool example.com/kit/aside\n", true},
		{"nothing", "middle/a.go", "package middle\n", false},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			files := repotest.Standard()
			files["middle/go.mod"] = repotest.Mod("middle", "ground", "aside // indirect")
			files["ground/go.mod"] = repotest.Mod("ground", "aside // indirect")
			files["top/go.mod"] = repotest.Mod("top", "middle", "aside // indirect", "ground // indirect")
			files[row.name] = row.text
			modules, err := publication.FromTree(t.Context(), repotest.New(t, files).Open(), nil)
			require.NoError(t, err)
			published := map[string]publication.Module{}
			for _, m := range modules {
				published[m.Dir] = m
			}
			sums, aside := string(published["middle"].Files["go.sum"]), published["aside"]
			assert.Contains(t, sums, aside.Path+" "+aside.Version+"/go.mod "+aside.ModSum+"\n")
			if row.needed {
				assert.Contains(t, sums, aside.Path+" "+aside.Version+" "+aside.Sum+"\n")
			} else {
				assert.NotContains(t, sums, aside.Path+" "+aside.Version+" h1:")
			}
		})
	}
}

// TestWriteWhatBecomesAModule: a path that was none is one later, and one that was one stays it.
func TestWriteWhatBecomesAModule(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := repotest.Standard()
	files["tools/deep/go.mod"] = repotest.Mod("tools/deep")
	files["tools/deep/deep.go"] = "package deep\n"
	files["tools/deep/CHANGELOG.md"] = repotest.Changelog
	r := repotest.New(t, files)
	fill := func() {
		t.Helper()
		modules, err := publication.FromTree(t.Context(), r.Open(), nil)
		require.NoError(t, err)
		require.NoError(t, publication.Write(dir, modules, time.Unix(0, 0)))
	}
	fill()
	versions := filepath.Join(dir, "example.com", "kit", "tools", "@v")
	info, err := os.Stat(versions)
	require.NoError(t, err)
	assert.True(t, info.Mode().IsRegular(), "no module: it is an error to ask for its versions")
	r.Write(repotest.Files{"tools/go.mod": repotest.Mod("tools"), "tools/tools.go": "package tools\n", "tools/CHANGELOG.md": repotest.Changelog})
	fill()
	assert.FileExists(t, filepath.Join(versions, "list"))
	r.Write(repotest.Files{"tools/CHANGELOG.md": ""})
	fill()
	assert.FileExists(t, filepath.Join(versions, "list"), "versions that are there stay")
	assert.NoDirExists(t, filepath.Join(dir, "example.com", "@v"), "above the repository anybody may be asked")
}

func TestCodeThatIsNoGo(t *testing.T) {
	t.Parallel()
	files := repotest.Standard()
	files["aside/aside.go"] = "pakage aside\n"
	_, err := publication.FromTree(t.Context(), repotest.New(t, files).Open(), nil)
	assert.ErrorContains(t, err, "module example.com/kit/aside: aside.go:1:1: expected 'package', found pakage")
}
