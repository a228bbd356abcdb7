package proxy_test

import (
	"archive/zip"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/tools/release/internal/repotest"
	"github.com/operkit/operkit/tools/release/proxy"
)

const (
	ground = repotest.Prefix + "ground"
	middle = repotest.Prefix + "middle"
	top    = repotest.Prefix + "top"
	aside  = repotest.Prefix + "aside"
)

// consumer is an empty module that takes modules from a proxy, with a module cache of its own.
type consumer struct {
	t   *testing.T
	dir string
	env []string
}

func newConsumer(t *testing.T, dir string) consumer {
	t.Helper()
	env, err := proxy.Environ(t.Context(), dir)
	require.NoError(t, err)
	cache := t.TempDir()
	c := consumer{t, t.TempDir(), append(env, "GOMODCACHE="+cache, "GOFLAGS=-modcacherw")}
	c.goes("mod", "init", "example.com/consumer")
	return c
}

func (c consumer) try(args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = c.dir, c.env
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func (c consumer) goes(args ...string) string {
	c.t.Helper()
	out, err := c.try(args...)
	require.NoError(c.t, err, "go %s: %s", strings.Join(args, " "), out)
	return out
}

// archive reads the files of a version by their paths in the module.
func archive(t *testing.T, dir, path, version string) map[string]string {
	t.Helper()
	packed, err := zip.OpenReader(filepath.Join(dir, path, "@v", version+".zip"))
	require.NoError(t, err)
	defer func() { require.NoError(t, packed.Close()) }()
	files := map[string]string{}
	for _, file := range packed.File {
		name, inside := strings.CutPrefix(file.Name, path+"@"+version+"/")
		require.True(t, inside, file.Name)
		opened, err := file.Open()
		require.NoError(t, err)
		text, err := io.ReadAll(opened)
		require.NoError(t, err)
		files[name] = string(text)
	}
	return files
}

func names(files map[string]string) []string {
	var all []string
	for name := range files {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

func TestFill(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, repotest.Standard())
	r.Write(repotest.Files{
		"ground/new.go": "package ground\n", "ground/ignored.tmp": "x", "ground/gone.go": "package ground\n",
		"ground/inner/go.mod": repotest.Mod("ground/inner"), "ground/inner/inner.go": "package inner\n",
	})
	r.Git("add", "ground/gone.go")
	r.Write(repotest.Files{"ground/gone.go": ""})
	dir := t.TempDir()
	versions, err := proxy.Fill(t.Context(), r.Root, dir)
	require.NoError(t, err)
	assert.Len(t, versions, 4, "scratch isn't released, and neither is the nested module")
	assert.Regexp(t, `^v0\.0\.0-20\d{12}-[0-9a-f]{12}$`, versions[top])
	for path, version := range versions {
		assert.Equal(t, versions[top], version, path)
	}
	assert.Equal(t, []string{"CHANGELOG.md", "LICENSE", "go.mod", "ground.go", "new.go"}, names(archive(t, dir, ground, versions[ground])),
		"what git has or would have, and the licence of the repository")

	files := archive(t, dir, top, versions[top])
	assert.NotContains(t, files["go.mod"], "replace")
	assert.Contains(t, files["go.mod"], "require "+middle+" "+versions[top]+"\n")
	for _, path := range []string{middle, ground} {
		assert.Contains(t, files["go.sum"], path+" "+versions[top]+" h1:")
		assert.Contains(t, files["go.sum"], path+" "+versions[top]+"/go.mod h1:")
	}
	assert.Contains(t, r.Git("show", ":top/go.mod"), "replace", "the tree is as it was")
	assert.Equal(t, "?? ground/inner/\n?? ground/new.go", strings.TrimSpace(strings.ReplaceAll(r.Git("status", "--short", "--", "ground"), "AD ground/gone.go\n", "")))
}

func TestGoGet(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, repotest.Standard())
	dir := filepath.Join(t.TempDir(), "a proxy, with 100% odd characters #?")
	versions, err := proxy.Fill(t.Context(), r.Root, dir)
	require.NoError(t, err)
	c := newConsumer(t, dir)
	c.goes("get", middle+"@"+versions[middle])
	require.NoError(t, os.WriteFile(filepath.Join(c.dir, "main.go"),
		[]byte("package main\n\nimport \"example.com/kit/middle\"\n\nfunc main() { println(middle.Height()) }\n"), 0o600))
	c.goes("mod", "tidy")
	assert.Equal(t, "2", c.goes("run", "."))
	assert.Contains(t, c.goes("list", "-m", "all"), ground+" "+versions[ground])
	c.goes("get", top+"@latest")
	assert.Equal(t, "3", c.goes("run", top), "a command that the tool needn't know the version of")

	// As it is published it is tidy.
	alone := t.TempDir()
	for name, text := range archive(t, dir, top, versions[top]) {
		require.NoError(t, os.WriteFile(filepath.Join(alone, name), []byte(text), 0o600))
	}
	c.dir = alone
	assert.Empty(t, c.goes("mod", "tidy", "-diff"))
}

// TestNobodyElseIsAsked has a proxy behind that fails whoever asks it.
func TestNobodyElseIsAsked(t *testing.T) {
	t.Setenv("GOPROXY", "http://127.0.0.1:1")
	t.Setenv("GONOSUMDB", "")
	t.Setenv("GOPRIVATE", repotest.Prefix+"*")
	r := repotest.New(t, repotest.Standard())
	r.Write(repotest.Files{"tools/go/go.mod": repotest.Mod("tools/go", "ground"), "tools/go/x/x.go": "package x\n\nimport _ \"example.com/kit/ground\"\n",
		"tools/go/CHANGELOG.md": repotest.Changelog})
	dir := t.TempDir()
	versions, err := proxy.Fill(t.Context(), r.Root, dir)
	require.NoError(t, err)
	c := newConsumer(t, dir)
	c.goes("get", repotest.Prefix+"tools/go/x@"+versions[top])
	assert.Contains(t, c.goes("list", "-m", "all"), ground+" "+versions[ground])
	out, err := c.try("get", repotest.Prefix+"tools/none@"+versions[top])
	require.Error(t, err)
	assert.NotContains(t, out, "127.0.0.1", "that it is no module is known here")
}

func TestFillAgain(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, repotest.Standard())
	dir := t.TempDir()
	first, err := proxy.Fill(t.Context(), r.Root, dir)
	require.NoError(t, err)
	zipped := filepath.Join(dir, ground, "@v", first[ground]+".zip")
	before, err := os.ReadFile(zipped)
	require.NoError(t, err)
	again, err := proxy.Fill(t.Context(), r.Root, dir)
	require.NoError(t, err)
	assert.Equal(t, first, again)
	after, err := os.ReadFile(zipped)
	require.NoError(t, err)
	assert.Equal(t, before, after)

	r.Write(repotest.Files{"aside/aside.go": "package aside\n"})
	changed, err := proxy.Fill(t.Context(), r.Root, dir)
	require.NoError(t, err)
	assert.NotEqual(t, first[ground], changed[ground], "other contents, another version")
	_, err = os.Stat(zipped)
	require.NoError(t, err, "what was there stays")

	_, err = proxy.Fill(t.Context(), r.Root, dir, proxy.Versions(map[string]string{ground: "v0.2.0"}))
	require.NoError(t, err)
	_, err = proxy.Fill(t.Context(), r.Root, dir, proxy.Versions(map[string]string{ground: "v0.10.0"}))
	require.NoError(t, err)
	c := newConsumer(t, dir)
	assert.Equal(t, ground+" v0.2.0 v0.10.0", c.goes("list", "-m", "-versions", ground))
}

func TestVersions(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, repotest.Standard())
	dir := t.TempDir()
	versions, err := proxy.Fill(t.Context(), r.Root, dir,
		proxy.Versions(map[string]string{ground: "v1.2.3", middle: "v0.4.0"}), proxy.Versions(map[string]string{middle: "v0.5.0-rc.1"}))
	require.NoError(t, err)
	assert.Equal(t, "v1.2.3", versions[ground])
	assert.Equal(t, "v0.5.0-rc.1", versions[middle], "the last one counts")
	assert.Contains(t, archive(t, dir, middle, "v0.5.0-rc.1")["go.mod"], "require "+ground+" v1.2.3\n")
	for _, row := range []struct{ reason, path, version, want string }{
		{"no version", ground, "1.2", `version "1.2" of example.com/kit/ground: want a version like v0.1.0`},
		{"short", ground, "v1", `version "v1" of example.com/kit/ground: want a version like v0.1.0`},
		{"a major version that its path would have", ground, "v2.0.0", "version v2.0.0 of example.com/kit/ground: "},
		{"a module that isn't released", repotest.Prefix + "scratch", "v1.0.0", "version v1.0.0 of example.com/kit/scratch: no released module has this path"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			_, err := proxy.Fill(t.Context(), r.Root, t.TempDir(), proxy.Versions(map[string]string{row.path: row.version}))
			assert.ErrorContains(t, err, row.want)
		})
	}
}

func TestFillRefuses(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		files  repotest.Files
		want   string
	}{
		{"what isn't released is required", repotest.Files{"aside/go.mod": repotest.Mod("aside", "scratch")}, "module aside: requires scratch, which isn't released"},
		{"a folder that nobody else has", repotest.Files{"aside/go.mod": repotest.Mod("aside") + "\nreplace example.com/other => ../other\n"},
			"aside/go.mod: replaces example.com/other by the folder ../other, which users of the module don't have"},
		{"a name that no archive takes", repotest.Files{"aside/a:b.txt": "x"}, "example.com/kit/aside@v0.0.0-"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			r := repotest.New(t, repotest.Standard())
			r.Write(row.files)
			dir := t.TempDir()
			_, err := proxy.Fill(t.Context(), r.Root, dir)
			require.ErrorContains(t, err, row.want)
			left, err := os.ReadDir(dir)
			require.NoError(t, err)
			assert.Empty(t, left, "nothing is written")
		})
	}
	_, err := proxy.Fill(t.Context(), t.TempDir(), t.TempDir())
	assert.ErrorContains(t, err, "it isn't the top folder of a git repository")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = proxy.Fill(ended, repotest.New(t, repotest.Standard()).Root, t.TempDir())
	assert.ErrorIs(t, err, context.Canceled)
}

func TestEnviron(t *testing.T) {
	t.Setenv("GOPROXY", "https://proxy.example,direct")
	t.Setenv("GONOSUMDB", "corp.example/*")
	t.Setenv("GOFLAGS", "-mod=vendor")
	_, err := proxy.Environ(t.Context(), t.TempDir())
	require.ErrorContains(t, err, "it has no module: fill it first")
	dir := t.TempDir()
	_, err = proxy.Fill(t.Context(), repotest.New(t, repotest.Standard()).Root, dir)
	require.NoError(t, err)
	env, err := proxy.Environ(t.Context(), dir)
	require.NoError(t, err)
	value := func(name string) string {
		var found []string
		for _, entry := range env {
			if text, is := strings.CutPrefix(entry, name+"="); is {
				found = append(found, text)
			}
		}
		require.Len(t, found, 1, name)
		return found[0]
	}
	assert.Regexp(t, "^file://"+dir+",file:///.*/cache/download,https://proxy.example,direct$", value("GOPROXY"))
	assert.Equal(t, strings.Join([]string{aside, ground, middle, top, "corp.example/*"}, ","), value("GONOSUMDB"))
	assert.Equal(t, "", value("GOFLAGS"))
	assert.Equal(t, "off", value("GOWORK"))
	assert.Contains(t, env, "HOME="+os.Getenv("HOME"))
}
