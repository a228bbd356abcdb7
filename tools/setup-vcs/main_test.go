package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// program is the binary as it is in an image.
var program string

func TestMain(m *testing.M) {
	folder, err := os.MkdirTemp("", "setup-vcs-")
	if err == nil {
		program = filepath.Join(folder, "setup-vcs")
		err = build(program)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(folder)
		os.Exit(code)
	}))
}

// build builds it as the README says.
func build(path string) error {
	command := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", path, ".")
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}

// result is what became of a run.
type result struct {
	stdout, stderr string
	code           int
}

// run runs the binary in a folder, or in this one if it has none.
func run(t *testing.T, folder string, args ...string) result {
	t.Helper()
	command := exec.Command(program, args...)
	command.Dir = folder
	return finish(t, command)
}

func finish(t *testing.T, command *exec.Cmd) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if command.Stdout == nil {
		command.Stdout = &stdout
	}
	if command.Stderr == nil {
		command.Stderr = &stderr
	}
	err := command.Run()
	var exit *exec.ExitError
	require.True(t, err == nil || errors.As(err, &exit), "%v", err)
	return result{stdout.String(), stderr.String(), command.ProcessState.ExitCode()}
}

// done is run, of what has to succeed.
func done(t *testing.T, folder string, args ...string) result {
	t.Helper()
	r := run(t, folder, args...)
	require.Equal(t, 0, r.code, r.stderr)
	return r
}

// repository is one that git reads.
type repository struct {
	t   *testing.T
	dir string
}

func newRepository(t *testing.T) repository {
	t.Helper()
	g := repository{t, filepath.Join(t.TempDir(), "source")}
	require.NoError(t, os.Mkdir(g.dir, 0o755))
	g.git("init", "-q", "-b", "main")
	return g
}

// git runs git in the repository, without any configuration but its own.
func (g repository) git(args ...string) string {
	g.t.Helper()
	out, err := g.try(args...)
	require.NoError(g.t, err, "git %s: %s", strings.Join(args, " "), out)
	return out
}

func (g repository) try(args ...string) (string, error) {
	command := exec.Command("git", append([]string{"-C", g.dir}, args...)...)
	command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "LC_ALL=C",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=C", "GIT_COMMITTER_EMAIL=c@example.com",
		"GIT_AUTHOR_DATE=1700000000 +0100", "GIT_COMMITTER_DATE=1700000001 +0200")
	out, err := command.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func (g repository) write(name, content string, mode os.FileMode) {
	g.t.Helper()
	path := filepath.Join(g.dir, name)
	require.NoError(g.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(g.t, os.WriteFile(path, []byte(content), mode))
}

func (g repository) commit(message string) {
	g.t.Helper()
	g.git("add", "-A", "-f")
	g.git("commit", "-q", "--allow-empty", "-m", message)
}

// refs are the full names of the references, in order.
func (g repository) refs() []string {
	g.t.Helper()
	return strings.Fields(g.git("for-each-ref", "--format=%(refname)"))
}

// released is a repository with the tags 1.1.0, 1.2.0, v2.0.0 (annotated) and 9.9.9-rc1, a branch release/x, and a secret in its history.
func released(t *testing.T) repository {
	t.Helper()
	g := newRepository(t)
	g.write("secret.txt", "a password that was committed once\n", 0o644)
	g.write("charts/web/templates/web.yaml", "kind: Deployment\n", 0o644)
	g.write("bin/run", "#!/bin/sh\n", 0o755)
	g.write(".gitignore", "*.log\n", 0o644)
	g.write("kept.log", "ignored, but tracked\n", 0o644)
	require.NoError(t, os.Symlink("../charts/web", filepath.Join(g.dir, "bin", "web")))
	g.commit("history")
	require.NoError(t, os.Remove(filepath.Join(g.dir, "secret.txt")))
	for i, tag := range []string{"1.1.0", "1.2.0", "9.9.9-rc1"} {
		g.write("charts/web/values.yaml", fmt.Sprintf("replicas: %d\n", i), 0o644)
		g.commit("between")
		g.commit("release " + tag)
		g.git("tag", tag)
	}
	g.git("tag", "-a", "-m", "annotated", "v2.0.0")
	g.git("branch", "release/x", "1.2.0")
	return g
}

// setup makes a repository of what g has, in a folder of its own.
func (g repository) setup(args ...string) repository {
	g.t.Helper()
	made := repository{g.t, filepath.Join(g.t.TempDir(), "versions")}
	done(g.t, "", append([]string{"--source", g.dir, "--destination", made.dir}, args...)...)
	return made
}

// names are those of files in a folder, sorted.
func names(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	all := []string{}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	slices.Sort(all)
	return all
}
