package snapshot_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/module"

	"github.com/operkit/operkit/tools/release/internal/repotest"
	"github.com/operkit/operkit/tools/release/internal/snapshot"
)

func ours(path string) bool { return strings.HasPrefix(path, repotest.Prefix) }

const (
	ground = repotest.Prefix + "ground"
	middle = repotest.Prefix + "middle"
)

var siblings = map[string]snapshot.Published{
	ground: {Version: "v0.2.0", Sum: "h1:ground", ModSum: "h1:ground.mod"},
	middle: {Version: "v1.0.0", Sum: "h1:middle", ModSum: "h1:middle.mod"},
}

const goMod = `// What it is for.
module example.com/kit/top

go 1.26.0

require (
	example.com/kit/middle v0.0.0
	example.com/other v1.2.3
)

require example.com/kit/ground v0.0.0 // indirect

replace (
	example.com/kit/ground => ../ground
	example.com/kit/middle => ../middle
	example.com/other => example.com/fork v1.2.4
)
`

func TestPublish(t *testing.T) {
	t.Parallel()
	files := snapshot.Files{
		"go.mod": []byte(goMod), "top.go": []byte("package top\n"),
		"go.sum": []byte("example.com/other v1.2.3 h1:x\nexample.com/kit/ground v0.1.0 h1:old\nexample.com/other v1.2.3/go.mod h1:y\nexample.com/a v1.10.0 h1:z\nexample.com/a v1.9.0 h1:z\n"),
	}
	published, err := files.Publish("top", siblings, map[string]bool{middle: true}, ours)
	require.NoError(t, err)
	assert.Equal(t, `// What it is for.
module example.com/kit/top

go 1.26.0

require (
	example.com/kit/middle v1.0.0
	example.com/other v1.2.3
)

require example.com/kit/ground v0.2.0 // indirect

replace example.com/other => example.com/fork v1.2.4
`, string(published["go.mod"]), "siblings have versions; what replaces modules of others stays")
	assert.Equal(t, `example.com/a v1.9.0 h1:z
example.com/a v1.10.0 h1:z
example.com/kit/ground v0.2.0/go.mod h1:ground.mod
example.com/kit/middle v1.0.0 h1:middle
example.com/kit/middle v1.0.0/go.mod h1:middle.mod
example.com/other v1.2.3 h1:x
example.com/other v1.2.3/go.mod h1:y
`, string(published["go.sum"]), "in the order of the go command; of what is only required the go.mod alone")
	assert.Equal(t, "package top\n", string(published["top.go"]))
	assert.Equal(t, goMod, string(files["go.mod"]), "the input isn't changed")

	alone := snapshot.Files{"go.mod": []byte("module example.com/kit/a\n")}
	published, err = alone.Publish("a", siblings, nil, ours)
	require.NoError(t, err)
	assert.Equal(t, alone, published, "there is nothing to do, and no go.sum")
}

func TestPublishErrors(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ reason, text, want string }{
		{"no go.mod", "x\n", "a/go.mod:1: unknown directive: x"},
		{"a sibling without a version", "module example.com/kit/a\n\nrequire example.com/kit/b v0.0.0\n", "a/go.mod: requires example.com/kit/b, which has no version"},
		{"a folder", "module example.com/kit/a\n\nreplace example.com/b => ../b\n", "a/go.mod: replaces example.com/b by the folder ../b, which users of the module don't have"},
	} {
		_, err := snapshot.Files{"go.mod": []byte(row.text)}.Publish("a", siblings, nil, ours)
		assert.EqualError(t, err, row.want, row.reason)
	}
}

func TestChanged(t *testing.T) {
	t.Parallel()
	base := snapshot.Files{
		"go.mod": []byte(goMod), "go.sum": []byte("example.com/other v1.2.3 h1:x\n"), "a.go": []byte("package top\n"), "a_test.go": []byte("package top\n"),
		"testdata/x": []byte("x"), "in/testdata/x": []byte("x"),
	}
	tagged := strings.NewReplacer("middle v0.0.0", "middle v1.0.0", "ground v0.0.0", "ground v0.2.0",
		"\texample.com/kit/ground => ../ground\n\texample.com/kit/middle => ../middle\n", "").Replace(goMod)
	for _, row := range []struct {
		reason, name, text string
		want               []string
	}{
		{"nothing", "a.go", "package top\n", nil},
		{"code", "a.go", "package top\n\n// More.\n", []string{"a.go"}},
		{"a new file", "b.txt", "x", []string{"b.txt"}},
		{"a test", "a_test.go", "package top_test\n", nil},
		{"data of tests", "testdata/x", "y", nil},
		{"data of tests below", "in/testdata/x", "y", nil},
		{"versions of siblings and what replaces them", "go.mod", tagged, nil},
		{"the order of lines", "go.mod", "module example.com/kit/top\n\nreplace example.com/other => example.com/fork v1.2.4\n\nrequire example.com/other v1.2.3\n\ngo 1.26.0\n\n" +
			"require example.com/kit/ground v0.0.0 // indirect\n\nrequire example.com/kit/middle v0.0.0\n", nil},
		{"a version of somebody else", "go.mod", strings.Replace(goMod, "v1.2.3", "v1.2.5", 1), []string{"go.mod"}},
		{"a sibling that isn't required any more", "go.mod", strings.Replace(goMod, "require example.com/kit/ground v0.0.0 // indirect\n", "", 1), []string{"go.mod"}},
		{"what replaces somebody else", "go.mod", strings.Replace(goMod, "v1.2.4", "v1.2.6", 1), []string{"go.mod"}},
		{"the version of Go", "go.mod", strings.Replace(goMod, "go 1.26.0", "go 1.26.1", 1), []string{"go.mod"}},
		{"a retraction", "go.mod", goMod + "\nretract v0.1.0 // broken\n", []string{"go.mod"}},
		{"a tool", "go.mod", goMod + "\ntool example.com/other/cmd\n", []string{"go.mod"}},
		{"a setting", "go.mod", goMod + "\ngodebug default=go1.25\n", []string{"go.mod"}},
		{"an exclusion", "go.mod", goMod + "\nexclude example.com/other v1.2.2\n", []string{"go.mod"}},
		{"sums of siblings", "go.sum", "example.com/kit/ground v0.2.0 h1:x\nexample.com/other v1.2.3 h1:x\n", nil},
		{"sums of others", "go.sum", "example.com/other v1.2.3 h1:y\n", []string{"go.sum"}},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			after := snapshot.Files{}
			for name, text := range base {
				after[name] = text
			}
			after[row.name] = []byte(row.text)
			changed, err := snapshot.Changed(base, after, ours)
			require.NoError(t, err)
			assert.Equal(t, row.want, changed)
			back, err := snapshot.Changed(after, base, ours)
			require.NoError(t, err)
			assert.Equal(t, row.want, back, "the other way round")
		})
	}
	_, err := snapshot.Changed(base, snapshot.Files{"go.mod": []byte("x\n")}, ours)
	assert.Error(t, err)
}

func TestReadTreeAndRevision(t *testing.T) {
	t.Parallel()
	files := repotest.Standard()
	files["ground/inner/go.mod"] = repotest.Mod("ground/inner")
	files["ground/inner/deep/inner.go"] = "package deep\n"
	files["ground/a name with spaces ü.txt"] = "x"
	files["middle/LICENSE"] = "Do what the neighbours like.\n"
	r := repotest.New(t, files)
	r.Git("tag", "then")
	r.Write(repotest.Files{"ground/ground.go": "package ground\n"})
	opened := r.Open()
	m, _ := opened.Module(ground)
	tree, err := snapshot.Tree(t.Context(), opened, m)
	require.NoError(t, err)
	then, err := snapshot.Revision(t.Context(), opened, m, "then")
	require.NoError(t, err)
	assert.Equal(t, "package ground\n", string(tree["ground.go"]))
	assert.Contains(t, string(then["ground.go"]), "func Depth")
	then["ground.go"] = tree["ground.go"]
	assert.Equal(t, tree, then, "else they are the same: no nested module, the licence of the repository")
	assert.Len(t, tree, 5)

	m, _ = opened.Module(middle)
	tree, err = snapshot.Tree(t.Context(), opened, m)
	require.NoError(t, err)
	assert.Equal(t, "Do what the neighbours like.\n", string(tree["LICENSE"]), "its own licence comes first")

	_, err = snapshot.Revision(t.Context(), opened, m, "never")
	assert.ErrorContains(t, err, "files of module middle at never: ")
	r.Write(repotest.Files{"new/go.mod": repotest.Mod("new"), ".gitignore": "new/\n"})
	m, _ = r.Open().Module(repotest.Prefix + "new")
	_, err = snapshot.Tree(t.Context(), r.Open(), m)
	assert.EqualError(t, err, "module new: it has no go.mod that git knows")
	_, err = snapshot.Revision(t.Context(), r.Open(), m, "then")
	assert.EqualError(t, err, "module new: it has no go.mod that git knows")
}

func TestZipIsTheSameEachTime(t *testing.T) {
	t.Parallel()
	files := snapshot.Files{"go.mod": []byte("module example.com/a\n"), "b/b.go": []byte("package b\n"), "a.go": []byte("package a\n"), "vendor/x/x.go": []byte("package x\n")}
	archive, err := files.Zip(module.Version{Path: "example.com/a", Version: "v1.0.0"})
	require.NoError(t, err)
	again, err := files.Zip(module.Version{Path: "example.com/a", Version: "v1.0.0"})
	require.NoError(t, err)
	assert.Equal(t, archive, again)
	sum, modSum, err := files.Sums(archive)
	require.NoError(t, err)
	assert.Regexp(t, "^h1:.{44}$", sum)
	assert.Regexp(t, "^h1:.{44}$", modSum)
	delete(files, "vendor/x/x.go")
	smaller, err := files.Zip(module.Version{Path: "example.com/a", Version: "v1.0.0"})
	require.NoError(t, err)
	assert.Equal(t, archive, smaller, "what the go command leaves out")
	_, err = files.Zip(module.Version{Path: "example.com/a", Version: "v2.0.0"})
	assert.ErrorContains(t, err, "example.com/a@v2.0.0: create zip ")
	_, _, err = files.Sums([]byte("no archive"))
	assert.Error(t, err)
}

// FuzzPublish: no go.mod and go.sum crash it, and what comes out of it doesn't change when it is published again.
func FuzzPublish(f *testing.F) {
	f.Add([]byte(goMod), []byte("example.com/other v1.2.3 h1:x\n"))
	f.Add([]byte("module x\n"), []byte("a b\n\n \t\nexample.com/kit/ground v0.2.0 h1:x\nq v1 h\nq v1 h\nq v1 i\n"))
	f.Fuzz(func(t *testing.T, mod, sum []byte) {
		files := snapshot.Files{"go.mod": mod, "go.sum": sum}
		once, err := files.Publish("a", siblings, map[string]bool{ground: true}, ours)
		if err != nil {
			return
		}
		twice, err := once.Publish("a", siblings, map[string]bool{ground: true}, ours)
		require.NoError(t, err)
		assert.Equal(t, string(once["go.mod"]), string(twice["go.mod"]))
		assert.Equal(t, string(once["go.sum"]), string(twice["go.sum"]))
		assert.Contains(t, string(once["go.sum"]), "example.com/kit/ground v0.2.0 h1:ground\n")
		changed, err := snapshot.Changed(snapshot.Files{"go.mod": mod}, snapshot.Files{"go.mod": once["go.mod"]}, ours)
		require.NoError(t, err)
		assert.Empty(t, changed, "a release is no reason for the next one")
	})
}
