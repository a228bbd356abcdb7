package vcs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if job := os.Getenv(jobVariable); job != "" {
		os.Exit(runJob(job))
	}
	goleak.VerifyTestMain(m)
}

// gitRepository is one that git made.
type gitRepository struct {
	t   *testing.T
	dir string
}

// newGit makes an empty repository in a folder of its own.
func newGit(t *testing.T, options ...string) *gitRepository {
	t.Helper()
	g := &gitRepository{t, filepath.Join(t.TempDir(), "source")}
	require.NoError(t, os.Mkdir(g.dir, 0o755))
	g.git(append([]string{"init", "-q", "-b", "main"}, options...)...)
	return g
}

// git runs git in the repository, without any configuration but the repository's.
func (g *gitRepository) git(args ...string) string {
	g.t.Helper()
	out, err := g.try(args...)
	require.NoError(g.t, err, "git %s: %s", strings.Join(args, " "), out)
	return out
}

func (g *gitRepository) try(args ...string) (string, error) {
	command := exec.Command("git", append([]string{"-C", g.dir}, args...)...)
	command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "LC_ALL=C",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=C", "GIT_COMMITTER_EMAIL=c@example.com",
		"GIT_AUTHOR_DATE=1700000000 +0100", "GIT_COMMITTER_DATE=1700000000 +0100")
	out, err := command.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// write writes a file into the work tree.
func (g *gitRepository) write(name, content string, mode os.FileMode) {
	g.t.Helper()
	path := filepath.Join(g.dir, name)
	require.NoError(g.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(g.t, os.WriteFile(path, []byte(content), mode))
	require.NoError(g.t, os.Chmod(path, mode))
}

// commit commits all there is, and returns the id.
func (g *gitRepository) commit(message string) Commit {
	g.t.Helper()
	g.git("add", "-A", "-f")
	g.git("commit", "-q", "--allow-empty", "-m", message)
	return Commit(g.git("rev-parse", "HEAD"))
}

// open opens the repository until the test ends.
func (g *gitRepository) open() *Repository {
	g.t.Helper()
	r, err := Open(g.dir)
	require.NoError(g.t, err)
	g.t.Cleanup(func() { require.NoError(g.t, r.Close()) })
	return r
}

// released is a repository with the tags 1.0.0 and 1.1.0 (annotated), and two branches.
func released(t *testing.T) (g *gitRepository, first, second Commit) {
	t.Helper()
	g = newGit(t)
	g.write("README.md", "one\n", 0o644)
	g.write("bin/run", "#!/bin/sh\n", 0o755)
	g.write("deep/er/crlf.txt", "a\r\nb\r\n", 0o644)
	require.NoError(t, os.Symlink("../README.md", filepath.Join(g.dir, "bin", "readme")))
	first = g.commit("one")
	g.git("tag", "1.0.0")
	g.write("README.md", "two\n", 0o644)
	require.NoError(t, os.Remove(filepath.Join(g.dir, "deep", "er", "crlf.txt")))
	second = g.commit("two")
	g.git("tag", "-a", "-m", "second", "1.1.0")
	g.git("branch", "feature/x", "1.0.0")
	return g, first, second
}
