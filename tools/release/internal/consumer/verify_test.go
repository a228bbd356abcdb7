package consumer_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/modfile"

	"github.com/operkit/operkit/tools/release/internal/consumer"
	"github.com/operkit/operkit/tools/release/internal/publication"
	"github.com/operkit/operkit/tools/release/internal/repotest"
)

// verified is what became of modules of a repository, by their folders.
func verified(t *testing.T, files repotest.Files, tests bool, dirs ...string) map[string]consumer.Result {
	t.Helper()
	bench, modules := newBench(t, files, filepath.Join(t.TempDir(), "cache"))
	results := map[string]consumer.Result{}
	for _, m := range modules {
		if slices.Contains(dirs, m.Dir) {
			results[m.Dir] = bench.Verify(t.Context(), m, tests)
		}
	}
	return results
}

func newBench(t *testing.T, files repotest.Files, cache string) (*consumer.Bench, []publication.Module) {
	t.Helper()
	r := repotest.New(t, files).Open()
	modules, err := publication.FromTree(t.Context(), r, nil)
	require.NoError(t, err)
	var log bytes.Buffer
	bench, err := consumer.NewBench(t.Context(), r, modules, cache, &log)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, bench.Close())
	})
	return bench, modules
}

func TestVerify(t *testing.T) {
	t.Parallel()
	files := repotest.Standard()
	files["ground/ground_test.go"] = "package ground_test\n\nimport (\n\t\"fmt\"\n\n\t\"example.com/kit/ground\"\n)\n\nfunc ExampleDepth() {\n\tfmt.Println(ground.Depth())\n\t// Output: 1\n}\n"
	files["middle/generic.go"] = "package middle\n\n// Same takes any type, so nobody can call it without one.\nfunc Same[T any](x T) T { return x }\n\n// Kind has a method.\ntype Kind int\n\n// Kind does nothing.\nfunc (Kind) Kind() {}\n"
	files["middle/internal/deep/deep.go"] = "package deep\n\nfunc init() { panic(\"nobody may import it\") }\n"
	files["middle/cmd/show/main.go"] = "package main\n\nimport \"example.com/kit/middle\"\n\nfunc main() { println(middle.Height()) }\n"
	results := verified(t, files, true, "aside", "ground", "middle", "top")
	for dir, want := range map[string]struct{ modules, packages int }{"aside": {0, 1}, "ground": {0, 1}, "middle": {1, 3}, "top": {2, 1}} {
		result := results[dir]
		require.NoError(t, result.Err, dir)
		assert.Equal(t, dir, result.Module)
		assert.Regexp(t, `^v0\.0\.0-`, result.Version)
		assert.Equal(t, want.modules, result.Modules, "%s: modules", dir)
		assert.Equal(t, want.packages, result.Packages, "%s: packages", dir)
		assert.Greater(t, result.Bytes, int64(100_000), dir)
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason, name, text, want string
	}{
		{"a test that reads what isn't in its module", "aside/aside_test.go",
			"package aside\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestReads(t *testing.T) {\n\tif _, err := os.Stat(\"../LICENSE\"); err != nil {\n\t\tt.Fatal(err)\n\t}\n}\n",
			`(?s)^test: go test example.com/kit/aside/...: .*stat ../LICENSE: no such file or directory`},
		{"an example with another output", "aside/example_test.go",
			"package aside_test\n\nimport \"fmt\"\n\nfunc Example() {\n\tfmt.Println(1)\n\t// Output: 2\n}\n", `(?s)^test: .*got:\s1\s+want:\s2`},
		{"a test that doesn't compile", "aside/aside_test.go", "package aside\n\nvar x int = \"\"\n", `(?s)^test: .*cannot use ""`},
		{"code that doesn't compile", "aside/more.go", "package aside\n\nvar x int = \"\"\n", `(?s)^build: go build .*cannot use ""`},
		{"a program that ends before it begins", "aside/more.go", "package aside\n\nfunc init() { panic(\"no license\") }\n", `(?s)^consume: the program of the consumer: .*no license`},
		{"a requirement that nothing needs", "aside/go.mod", repotest.Mod("aside", "ground"), `(?s)^tidy: go mod tidy -diff: .*-require example.com/kit/ground`},
		{"no package", "aside/aside.go", "", `^fetch: `},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			files := repotest.Standard()
			files[row.name] = row.text
			if row.text == "" {
				delete(files, row.name)
			}
			results := verified(t, files, true, "aside", "ground")
			require.Error(t, results["aside"].Err)
			assert.Regexp(t, regexp.MustCompile(row.want), results["aside"].Err.Error())
			assert.NoError(t, results["ground"].Err, "a neighbour isn't to blame")
		})
	}
}

func TestWithoutTests(t *testing.T) {
	t.Parallel()
	files := repotest.Standard()
	files["aside/aside_test.go"] = "package aside\n\nvar x int = \"\"\n"
	assert.NoError(t, verified(t, files, false, "aside")["aside"].Err)
}

// TestInPlace: a module that replaces modules of others can be built in its folder alone.
func TestInPlace(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../go.mod")
	require.NoError(t, err)
	requirements, err := modfile.ParseLax("go.mod", text, nil)
	require.NoError(t, err)
	at := slices.IndexFunc(requirements.Require, func(r *modfile.Require) bool { return r.Mod.Path == "golang.org/x/sync" })
	require.GreaterOrEqual(t, at, 0, "a module that is in every cache of those who run this")
	used := requirements.Require[at].Mod.String()
	sums, err := os.ReadFile("../../go.sum")
	require.NoError(t, err)
	var needed string
	for line := range strings.Lines(string(sums)) {
		if strings.HasPrefix(line, strings.Replace(used, "@", " ", 1)) {
			needed += line
		}
	}
	files := repotest.Standard()
	files["aside/go.mod"] = "module example.com/kit/aside\n\ngo 1.26.0\n\nrequire golang.org/x/sync v0.1.0\n\nreplace golang.org/x/sync => " + strings.Replace(used, "@", " ", 1) + "\n"
	files["aside/go.sum"] = needed
	files["aside/aside.go"] = "package main\n\nimport (\n\t\"os\"\n\n\t\"golang.org/x/sync/errgroup\"\n)\n\nvar group errgroup.Group\n\nfunc main() { println(os.Getenv(\"SAID\")) }\n"
	files["aside/aside_test.go"] = "package main\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestSaid(t *testing.T) {\n\tif os.Getenv(\"SAID\") != \"in quotes\" || os.Getenv(\"AND\") != \"so\" {\n\t\tt.Fatal(os.Environ())\n\t}\n}\n"
	files["aside/build.env"] = "# how it is built\nSAID=\"in quotes\"\nAND=so\n"
	result := verified(t, files, true, "aside")["aside"]
	require.NoError(t, result.Err)
	assert.Equal(t, 1, result.Modules)
	assert.Equal(t, 1, result.Packages)
	assert.Greater(t, result.Bytes, int64(100_000))

	files["aside/build.env"] = "SAID=else\n"
	assert.ErrorContains(t, verified(t, files, true, "aside")["aside"].Err, "test: go test ")
}

func TestCacheIsForgotten(t *testing.T) {
	t.Parallel()
	cache := filepath.Join(t.TempDir(), "cache")
	stale := filepath.Join(cache, "example.com", "kit", "aside@v0.0.1", "deep")
	other := filepath.Join(cache, "example.com", "other@v0.0.1")
	for _, folder := range []string{stale, other} {
		require.NoError(t, os.MkdirAll(folder, 0o755))
		require.NoError(t, os.Chmod(folder, 0o555))
	}
	bench, modules := newBench(t, repotest.Standard(), cache)
	assert.NoDirExists(t, stale, "a module of the repository")
	assert.DirExists(t, other, "one of somebody else")
	require.NoError(t, bench.Verify(t.Context(), modules[0], false).Err)

	_, err := consumer.NewBench(t.Context(), repotest.New(t, repotest.Standard()).Open(), modules, cache, &bytes.Buffer{})
	assert.EqualError(t, err, cache+".lock: another process verifies this repository: wait for its end")
}

func TestEndsWithItsContext(t *testing.T) {
	t.Parallel()
	bench, modules := newBench(t, repotest.Standard(), filepath.Join(t.TempDir(), "cache"))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	assert.ErrorIs(t, bench.Verify(ended, modules[0], true).Err, context.Canceled)
}
