package command_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/operkit/operkit/tools/operkit/internal/command"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestInitWithoutFetching(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "my operator")
	said := done(t, "init", "guestbook-operator", "--kind", "Guestbook", "--group", "example.com", "--module", "example.com/x", "--dir", dir, "--no-tidy")
	assert.Equal(t, "wrote 29 files into "+dir+`

Next:
  cd '`+dir+`' && go get github.com/operkit/operkit/operator/full@v0.3.0 github.com/operkit/operkit/tools/envtest@v0.2.0 && go mod tidy
  make test      # runs the tests, on a cluster in memory
  make run       # runs the operator on a control plane on this machine (the first build takes minutes)
  make sample    # in another terminal: creates a Guestbook, and waits until it is ready
`, said)
	assert.Contains(t, read(t, dir, "go.mod"), "module example.com/x\n\ngo 1.26.0\n")
	assert.Contains(t, read(t, dir, "main.go"), `"example.com/x/internal/guestbook"`)
	isGo(t, dir)
}

func TestInitInTheWorkingDirectory(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir(".git", 0o755))
	said := done(t, "init", "guestbook-operator", "--kind", "Guestbook", "--group", "example.com", "--dir", ".", "--no-tidy", "--operkit-version", "main")
	assert.Contains(t, said, "\n  go get github.com/operkit/operkit/operator/full@main github.com/operkit/operkit/tools/envtest@v0.2.0 && go mod tidy\n")
	assert.FileExists(t, "main.go")
}

func TestInitEmpty(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "x")
	said := done(t, "init", "guestbook-operator", "--kind", "Guestbook", "--group", "example.com", "--dir", dir, "--no-tidy", "--empty")
	assert.Contains(t, said, "wrote 27 files into ", "without the component server and its test")
	assert.NoFileExists(t, filepath.Join(dir, "internal/guestbook/server.go"))
	assert.NotContains(t, read(t, dir, "config/rbac/role.yaml"), "deployments")
	for name, text := range tree(t, dir) {
		if !strings.HasPrefix(name, ".operkit/") {
			assert.NotContains(t, text, `"server"`, name)
			assert.NotContains(t, text, "--after server", name)
		}
	}
	isGo(t, dir)
	done(t, "add", "component", "cache", "--dir", dir)
	isGo(t, dir)
	assert.Contains(t, read(t, dir, "internal/guestbook/controller.go"), "\ts.Use(\"cache\", cache{})\n\treturn nil\n")
}

// Without a network the files stay, and the line to repeat is one that a shell takes.
func TestInitWithoutNetwork(t *testing.T) {
	t.Setenv("GOPROXY", "off")
	t.Setenv("GOMODCACHE", t.TempDir())
	t.Setenv("GOFLAGS", "-modcacherw")
	dir := filepath.Join(t.TempDir(), "guestbook-operator")
	r := execute(t, "init", "guestbook-operator", "--kind", "Guestbook", "--group", "example.com", "--dir", dir)
	assert.Equal(t, 1, r.code)
	assert.Contains(t, r.stdout, "wrote 29 files")
	assert.NotContains(t, r.stdout, "Next:")
	assert.Contains(t, r.stderr, "module lookup disabled by GOPROXY=off")
	repeat := "cd " + dir + " && go get github.com/operkit/operkit/operator/full@v0.3.0 github.com/operkit/operkit/tools/envtest@v0.2.0 && go mod tidy"
	assert.True(t, strings.HasSuffix(r.stderr, "The files are written. Fix the problem, then run:\n  "+repeat+"\n"), r.stderr)
	assert.FileExists(t, filepath.Join(dir, "main.go"))
}

func TestInitWithoutGo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	r := execute(t, "init", "guestbook-operator", "--kind", "Guestbook", "--group", "example.com", "--dir", filepath.Join(t.TempDir(), "x"))
	assert.Equal(t, 1, r.code)
	assert.Contains(t, r.stderr, "there is no go command in PATH: install Go")
}

func TestBadInput(t *testing.T) {
	t.Parallel()
	full := t.TempDir()
	write(t, full, "notes.txt", "mine")
	there := operator(t)
	good := []string{"init", "guestbook-operator", "--kind", "Guestbook", "--group", "example.com", "--no-tidy"}
	with := func(args ...string) []string { return append(append([]string(nil), good...), args...) }
	for _, row := range []struct {
		reason string
		args   []string
		want   []string
	}{
		{"no name", []string{"init", "--kind", "A", "--group", "a.b"}, []string{"give NAME, such as guestbook-operator", "operkit init --help"}},
		{"two names", with("another"), []string{`unexpected argument "another"`}},
		{"all that is wrong is told at once", []string{"init", "My_Operator", "--kind", "guestbook", "--group", "apps", "--version", "1.0", "--module", "a b"}, []string{
			`name "My_Operator": `, "such as my-operator", `kind "guestbook": `, "such as Guestbook", `group "apps": `, "such as apps.example.com",
			`version "1.0": `, "such as v1", `module "a b": `,
		}},
		{"what is needed", []string{"init", "x"}, []string{"--kind: is missing: give --kind Guestbook", "--group: is missing: give --group example.com"}},
		{"an empty value", with("--version", ""), []string{"--version: is missing: give --version v1"}},
		{"a version that is none", with("--operkit-version", "a@b"), []string{`operkit version "a@b": write a version such as v0.1.0, or latest`}},
		{"a folder with something in it", with("--dir", full), []string{full + ": isn't empty: it contains notes.txt", "--dir"}},
		{"an operator that is there", with("--dir", there), []string{"isn't empty: it contains .dockerignore, .github, .gitignore, .golangci.yml, .operkit, 10 more"}},
		{"a file", with("--dir", filepath.Join(full, "notes.txt")), []string{"notes.txt"}},
		{"a flag that there isn't", with("--grup", "x"), []string{"unknown flag: --grup", "operkit init --help"}},
		{"a command that there isn't", []string{"inti"}, []string{`unknown command "inti": did you mean init?`}},
		{"a command of another generator", []string{"create", "api"}, []string{`unknown command "create": did you mean add?`}},
		{"another word for it", []string{"new", "guestbook-operator"}, []string{`unknown command "new": did you mean init?`}},
		{"a command far from any", []string{"frobnicate"}, []string{`unknown command "frobnicate": see 'operkit --help'`}},
		{"nothing such can be added", []string{"add", "kin", "Backup"}, []string{`unknown command "kin": did you mean kind?`}},
		{"no component", []string{"add", "component"}, []string{"give NAME, such as cache"}},
		{"a component's name", []string{"add", "component", "Cache", "--dir", there}, []string{`component "Cache": `, "such as cache"}},
		{"a kind's name", []string{"add", "kind", "backup", "--dir", there}, []string{`kind "backup": `, "such as Backup"}},
		{"outside of an operator", []string{"add", "component", "cache", "--dir", full}, []string{"isn't in an operator: there is no go.mod in this folder or its parents", "operkit init"}},
		{"the same, a kind", []string{"add", "kind", "Backup", "--dir", full}, []string{"isn't in an operator"}},
		{"a controller that there isn't", []string{"add", "component", "cache", "--kind", "Backup", "--dir", there}, []string{"--kind Backup: the operator has controllers of guestbook (internal/guestbook/controller.go)"}},
		{"behind what there isn't", []string{"add", "component", "cache", "--after", "redis", "--dir", there}, []string{"--after redis: choose from the other components of the controller: server"}},
		{"behind itself", []string{"add", "component", "cache", "--after", "cache", "--dir", there}, []string{"--after cache: "}},
		{"another version of a kind", []string{"add", "kind", "Guestbook", "--version", "v2", "--dir", there}, []string{"kind Guestbook: it exists in version v1", "run 'operkit add version Guestbook v2'"}},
		{"a type that there is", []string{"add", "kind", "GuestbookSpec", "--dir", there}, []string{"kind GuestbookSpec: api/v1 declares GuestbookSpec already: use another name"}},
		{"the file of another kind", []string{"add", "kind", "GuestBook", "--dir", there}, []string{"guestbook_types.go exists, but has no type GuestBook"}},
		{"the package of another group's kind", []string{"add", "kind", "Guestbook", "--group", "other.example.com", "--dir", there}, []string{"internal/guestbook is a package that doesn't import api/other/v1"}},
		{"a group's name", []string{"add", "kind", "Backup", "--group", "x", "--dir", there}, []string{`group "x": `}},
		{"a version's name", []string{"add", "kind", "Backup", "--version", "x", "--dir", there}, []string{`version "x": `}},
	} {
		before, beforeThere := tree(t, full), tree(t, there)
		r := execute(t, row.args...)
		assert.Equal(t, 2, r.code, row.reason)
		assert.Empty(t, r.stdout, row.reason)
		for _, want := range row.want {
			assert.Contains(t, r.stderr, want, row.reason)
		}
		assert.Equal(t, before, tree(t, full), "%s: nothing is written", row.reason)
		assert.Equal(t, beforeThere, tree(t, there), "%s: nothing is written", row.reason)
	}
	assert.NoDirExists(t, "guestbook-operator")
}

func TestHelp(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{}, {"init"}, {"add"}, {"add", "component"}, {"add", "kind"}, {"add", "webhook"}, {"add", "version"}, {"add", "conversion"}, {"update"}} {
		help := done(t, append(args, "--help")...)
		for line := range strings.Lines(help) {
			assert.LessOrEqual(t, len(strings.TrimRight(line, "\n")), 120, "%s: it fits into a terminal", line)
		}
		if len(args) > 0 {
			assert.Contains(t, done(t), args[0])
		}
	}
	assert.Regexp(t, `^operkit version \S+\n$`, done(t, "--version"))
	assert.Equal(t, done(t, "--help"), done(t))
	help := done(t, "init", "--help")
	for _, flag := range regexp.MustCompile("`(--[a-z-]+)`").FindAllStringSubmatch(read(t, "../..", "README.md"), -1) {
		assert.Contains(t, help, flag[1]+" ", "of the README")
	}
	assert.Contains(t, help, `(default "v0.3.0")`, "the version of the program's own requirements")
}

func TestInitInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := filepath.Join(t.TempDir(), "x")
	var stdout, stderr bytes.Buffer
	code := command.Execute(ctx, []byte(requirements), []string{"init", "guestbook-operator", "--kind", "Guestbook", "--group", "example.com", "--dir", dir}, &stdout, &stderr)
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr.String(), "go get github.com/operkit/operkit/operator/full@v0.3.0 github.com/operkit/operkit/tools/envtest@v0.2.0: interrupted\nThe files are written.")
	assert.FileExists(t, filepath.Join(dir, "main.go"))
}
