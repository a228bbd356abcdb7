package build

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestFinderFindsTheFolder works in the repository as well as in a module cache, where the published module is found.
func TestFinderFindsTheFolder(t *testing.T) {
	t.Parallel()
	finder, err := NewFinder(t.TempDir())
	require.NoError(t, err)
	dir, err := finder.Find(t.Context())
	require.NoError(t, err)
	assert.True(t, isModule(dir), dir)

	root := t.TempDir()
	want := filepath.Join(root, "tools/devcluster")
	here := filepath.Join(root, "tools/envtest/internal/build")
	write(t, filepath.Join(want, "go.mod"), "module "+Module+"\n", 0o600)
	require.NoError(t, os.MkdirAll(here, 0o700))
	finder.SourceFile, finder.WorkDir = filepath.Join(here, "source.go"), t.TempDir()
	dir, err = finder.Find(t.Context())
	require.NoError(t, err)
	assert.Equal(t, want, dir, "the repository that the code is compiled from")

	finder.SourceFile, finder.WorkDir = sibling+"/internal/build/source.go", here // as after -trimpath
	dir, err = finder.Find(t.Context())
	require.NoError(t, err)
	assert.Equal(t, want, dir, "from the working directory, which is that of some package of the repository")
}

func TestFinderLooksUpward(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write(t, filepath.Join(root, "tools/devcluster/go.mod"), "// the program\nmodule "+Module+" // here\n", 0o600)
	write(t, filepath.Join(root, "deep/tools/devcluster/go.mod"), "module example.invalid/another/devcluster\n", 0o600)
	require.NoError(t, os.MkdirAll(filepath.Join(root, "deep/er/still"), 0o700))
	dir, err := Finder{WorkDir: filepath.Join(root, "deep/er/still")}.Find(t.Context())
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(root, "tools/devcluster"), dir, "past a folder that only has its name")
}

func TestFinderVersionIsAPublishedOne(t *testing.T) {
	t.Parallel()
	module := func(version string) *debug.Module { return &debug.Module{Path: sibling, Version: version} }
	replaced := module("v1.2.3")
	replaced.Replace = &debug.Module{Path: "../envtest"}
	tests := map[string]struct {
		reason string
		info   *debug.BuildInfo
		want   string
		file   string
	}{
		"its file's":     {"a test of the usual consumer", nil, "v1.2.3", "/root/go/pkg/mod/" + sibling + "@v1.2.3/internal/build/source.go"},
		"trimmed":        {"the same with -trimpath", nil, "v1.2.3", sibling + "@v1.2.3/internal/build/source.go"},
		"vendored":       {"no version in its name", nil, "", "/home/vendor/" + sibling + "/internal/build/source.go"},
		"none":           {"a program without build information", nil, "", ""},
		"required":       {"the usual consumer", &debug.BuildInfo{Deps: []*debug.Module{{Path: "x", Version: "v9.9.9"}, module("v1.2.3")}}, "v1.2.3", ""},
		"itself":         {"the command, run by its version", &debug.BuildInfo{Main: *module("v1.2.3")}, "v1.2.3", ""},
		"pseudo-version": {"a commit", &debug.BuildInfo{Deps: []*debug.Module{module("v0.0.0-20260101000000-abcdefabcdef")}}, "v0.0.0-20260101000000-abcdefabcdef", ""},
		"a work tree":    {"no proxy has it", &debug.BuildInfo{Main: *module("(devel)")}, "", ""},
		"changed":        {"nor one with changes", &debug.BuildInfo{Main: *module("v1.2.3+dirty")}, "", ""},
		"replaced":       {"another folder takes its place", &debug.BuildInfo{Deps: []*debug.Module{replaced}}, "", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.want, Finder{Info: test.info, SourceFile: test.file}.version(), test.reason)
		})
	}
}

func TestFinderThatFindsNothingSaysWhereItLooked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := Finder{WorkDir: dir, Environ: append(os.Environ(), "GOWORK=off")}.Find(t.Context())
	require.Error(t, err)
	assert.ErrorContains(t, err, "devcluster source: it is in no folder above "+dir)
}

func TestFinderFollowsAReplaceLine(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write(t, filepath.Join(root, "user/go.mod"), "module user\ngo 1.26.0\nrequire "+sibling+" v0.0.0\nreplace "+sibling+" => ../operkit/envtest\n", 0o600)
	write(t, filepath.Join(root, "operkit/envtest/go.mod"), "module "+sibling+"\ngo 1.26.0\n", 0o600)
	write(t, filepath.Join(root, "operkit/devcluster/go.mod"), "module "+Module+"\ngo 1.26.0\n", 0o600)
	dir, err := Finder{WorkDir: filepath.Join(root, "user"), Environ: append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod", "GOPROXY=off")}.Find(t.Context())
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(root, "operkit/devcluster"), dir)
}

// The published module is built where the module cache has it, which nobody can write to. A small one stands for it,
// with a requirement of its own; go command, proxy protocol and module cache are the real ones.
func TestPublishedModuleIsFetchedAndBuilt(t *testing.T) {
	t.Parallel()
	proxy, modules := t.TempDir(), t.TempDir()
	const dep = "example.invalid/greeting"
	sums := publish(t, proxy, dep, "v1.0.0", map[string]string{
		"go.mod": "module " + dep + "\ngo 1.26.0\n", "greeting.go": "package greeting\n\nconst Text = \"built from\"\n",
	})
	publish(t, proxy, Module, "v0.1.0", map[string]string{
		"go.mod":    "module " + Module + "\ngo 1.26.0\nrequire " + dep + " v1.0.0\n",
		"go.sum":    sums,
		"build.env": "GOWORK=off\nCGO_ENABLED=0\nGOFLAGS=\"-trimpath -buildvcs=false '-ldflags=-s -w -X main.source=thecache'\"\n",
		"main.go":   "package main\n\nimport \"" + dep + "\"\n\nvar source string\n\nfunc main() { println(greeting.Text, source) }\n",
	})
	environ := append(os.Environ(), "GOPROXY=file://"+proxy, "GOMODCACHE="+modules, "GONOSUMDB=*", "GOFLAGS=-mod=vendor")
	t.Cleanup(func() {
		cmd := exec.Command("go", "clean", "-modcache")
		cmd.Env = append(environ, "GOFLAGS=")
		output, err := cmd.CombinedOutput()
		assert.NoError(t, err, "%s", output)
	})
	info := &debug.BuildInfo{Deps: []*debug.Module{{Path: sibling, Version: "v0.1.0"}}}
	dir, err := Finder{WorkDir: t.TempDir(), Scratch: t.TempDir(), Info: info, Environ: environ}.Find(t.Context())
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(modules, Module+"@v0.1.0"), dir)
	stat, err := os.Stat(dir)
	require.NoError(t, err)
	assert.Zero(t, stat.Mode()&0o222, "the module cache is read-only")

	var progress bytes.Buffer
	builder := Builder{Cache: t.TempDir(), Source: dir, Environ: environ, Progress: &progress, Machine: machine{disk: 100 * gigabyte, memory: 8 * gigabyte}}
	path, err := builder.Binary(t.Context())
	require.NoError(t, err)
	output, err := exec.Command(path).CombinedOutput()
	require.NoError(t, err)
	assert.Equal(t, "built from thecache\n", string(output))

	builder.Cache, builder.Environ = t.TempDir(), append(environ, "GOPROXY=http://127.0.0.1:1", "GOMODCACHE="+t.TempDir())
	_, err = builder.Binary(t.Context())
	var missing *PreflightError
	require.ErrorAs(t, err, &missing)
	require.Len(t, missing.Missing, 1)
	assert.Contains(t, missing.Missing[0], "module proxy: GOPROXY=http://127.0.0.1:1 doesn't provide "+dep+"@v1.0.0")
	assert.Contains(t, missing.Missing[0], "connection refused")

	// What no file and no build information tells, the go command does.
	user := t.TempDir()
	publish(t, proxy, sibling, "v0.1.0", map[string]string{"go.mod": "module " + sibling + "\ngo 1.26.0\n"})
	write(t, filepath.Join(user, "go.mod"), "module user\ngo 1.26.0\nrequire "+sibling+" v0.1.0\n", 0o600)
	dir, err = Finder{WorkDir: user, Scratch: t.TempDir(), Environ: environ}.Find(t.Context())
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(modules, Module+"@v0.1.0"), dir)

	finder := Finder{WorkDir: t.TempDir(), Scratch: t.TempDir(), Environ: environ,
		Info: &debug.BuildInfo{Deps: []*debug.Module{{Path: sibling, Version: "v0.9.9"}}}}
	_, err = finder.Find(t.Context())
	assert.ErrorContains(t, err, "devcluster source "+Module+"@v0.9.9: ", "a version that nobody published")
}

// publish puts a module into a folder that serves as a proxy, and gives its lines of go.sum.
func publish(t *testing.T, proxy, module, version string, files map[string]string) (sums string) {
	t.Helper()
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	list := ""
	for _, name := range names {
		file, err := w.Create(module + "@" + version + "/" + name)
		require.NoError(t, err)
		_, err = file.Write([]byte(files[name]))
		require.NoError(t, err)
		list += fmt.Sprintf("%x  %s@%s/%s\n", sha256.Sum256([]byte(files[name])), module, version, name)
	}
	require.NoError(t, w.Close())
	dir := filepath.Join(proxy, module, "@v")
	write(t, filepath.Join(dir, "list"), version+"\n", 0o600)
	write(t, filepath.Join(dir, version+".info"), `{"Version":"`+version+`"}`, 0o600)
	write(t, filepath.Join(dir, version+".mod"), files["go.mod"], 0o600)
	write(t, filepath.Join(dir, version+".zip"), archive.String(), 0o600)
	h1 := func(list string) string {
		sum := sha256.Sum256([]byte(list))
		return "h1:" + base64.StdEncoding.EncodeToString(sum[:])
	}
	return fmt.Sprintf("%s %s %s\n%s %s/go.mod %s\n", module, version, h1(list),
		module, version, h1(fmt.Sprintf("%x  go.mod\n", sha256.Sum256([]byte(files["go.mod"])))))
}
