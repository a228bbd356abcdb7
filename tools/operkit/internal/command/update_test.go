package command_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/operkit/operkit/tools/operkit/internal/project"
	"github.com/operkit/operkit/tools/operkit/internal/record"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"
)

// older is a committed project whose files an older version of operkit has written: testdata/older.txtar has them.
func older(t *testing.T) string {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/older.txtar")
	require.NoError(t, err)
	var files []project.File
	for _, file := range archive.Files {
		files = append(files, project.File{Path: file.Name, Text: file.Data})
	}
	recorded, err := record.New("v0.1.0", project.Values{
		Name: "guestbook-operator", Kind: "Guestbook", Group: "example.com", Version: "v1", API: "api/v1", Package: "guestbook",
	}, files).Files()
	require.NoError(t, err)
	dir := filepath.Join(t.TempDir(), "guestbook-operator")
	require.NoError(t, project.Create(dir, append(files, recorded...)))
	git(t, dir, "init", "-q")
	commit(t, dir)
	return dir
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
	cmd.Dir = dir
	output, err := cmd.CombinedOutput()
	require.NoError(t, err, string(output))
	return string(output)
}

func commit(t *testing.T, dir string) {
	t.Helper()
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-qm", "as it is now")
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	dir := older(t)
	edit(t, dir, "internal/guestbook/server.go", "const port = 8080", "const port = 8888")
	edit(t, dir, "config/manager/deployment.yaml", "memory: 256Mi", "memory: 512Mi")
	edit(t, dir, "Makefile", "\tgo test ./...", "\tgo test -race ./...")
	edit(t, dir, "main.go", "\top.Main()", "\t// Mine.\n\top.Main()")
	require.NoError(t, os.Remove(filepath.Join(dir, ".dockerignore")))
	write(t, dir, "internal/guestbook/mine.go", "package guestbook\n")
	commit(t, dir)

	r := execute(t, "update", "--dir", dir)
	assert.Equal(t, 1, r.code, "there is a conflict")
	for file, outcome := range map[string]string{
		"AGENTS.md": "created", "internal/guestbook/server_test.go": "created", "README.md": "updated",
		"internal/guestbook/controller_test.go": "updated", "internal/guestbook/server.go": "merged", "Makefile": "conflict",
	} {
		assert.Regexp(t, `(?m)^`+outcome+` +`+regexp.QuoteMeta(file)+`$`, r.stdout)
	}
	assert.Contains(t, r.stdout, "skipped   .dockerignore: you have deleted it, and operkit has changed it\n")
	for _, untouched := range []string{"main.go", "mine.go", "config/manager/deployment.yaml", "zz_generated"} {
		assert.NotContains(t, r.stdout, untouched, "edited, unknown, or generated")
	}
	assert.Equal(t, "operkit: conflicts in Makefile: search for <<<<<<<, resolve them, then run:\n  cd "+dir+
		" && go get github.com/operkit/operkit/operator/full@v0.3.0 github.com/operkit/operkit/tools/envtest@v0.2.0 && go mod tidy && make generate golden test\n", r.stderr)
	assert.Contains(t, read(t, dir, "Makefile"), "<<<<<<< yours\n")
	assert.Contains(t, read(t, dir, "Makefile"), "\tgo test -race ./...\n")
	assert.Contains(t, read(t, dir, "Makefile"), ">>>>>>> operkit ")
	assert.Contains(t, read(t, dir, "internal/guestbook/server.go"), "const port = 8888", "an edit stays")
	assert.Contains(t, read(t, dir, "internal/guestbook/server.go"), "corev1ac.Service(", "beside what has changed")
	assert.Contains(t, read(t, dir, "config/manager/deployment.yaml"), "memory: 512Mi")
	assert.NoFileExists(t, filepath.Join(dir, ".dockerignore"), "what was deleted stays deleted")
	isGo(t, dir)

	r = execute(t, "update", "--dir", dir)
	assert.Equal(t, 2, r.code)
	assert.Contains(t, r.stderr, "has changes that aren't committed: ", "and are in nobody's way")
	git(t, dir, "checkout", "-q", "Makefile")
	edit(t, dir, "go.mod", "require sigs.k8s.io/controller-tools", "require github.com/operkit/operkit/operator/full v0.4.0\nrequire github.com/operkit/operkit/tools/envtest v0.2.0\nrequire sigs.k8s.io/controller-tools")
	commit(t, dir)
	assert.Equal(t, "everything is up to date\n", done(t, "update", "--dir", dir), "twice changes nothing")
	assert.Empty(t, git(t, dir, "status", "--porcelain"))
}

// A new project is up to date, whatever was added to it.
func TestUpdateOfANewProject(t *testing.T) {
	t.Parallel()
	dir := operator(t)
	done(t, "add", "component", "cache", "--after", "server", "--dir", dir)
	done(t, "add", "kind", "Backup", "--no-generate", "--empty", "--dir", dir)
	edit(t, dir, "internal/guestbook/controller.go", "cache{}", "cache{resource.Spec.Image}")
	git(t, dir, "init", "-q")
	commit(t, dir)
	assert.Equal(t, "\nNext:\n  cd "+dir+" && go get github.com/operkit/operkit/operator/full@v0.3.0 github.com/operkit/operkit/tools/envtest@v0.2.0 && go mod tidy && make generate golden test\n",
		done(t, "update", "--dir", dir, "--no-tidy"), "but for the modules")
	assert.Empty(t, git(t, dir, "status", "--porcelain"))
	answers := read(t, dir, record.AnswersFile)
	for _, want := range []string{"name: guestbook-operator\n", "kind: Backup\n", "empty: true\n", "component: cache\n"} {
		assert.Contains(t, answers, want)
	}
}

func TestUpdateRefuses(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason  string
		project func(t *testing.T) string
		want    string
	}{
		{"no operator", func(t *testing.T) string { return t.TempDir() }, "isn't in an operator"},
		{"no repository", operator, "isn't in a git repository: run 'git init && git add . && git commit"},
		{"no record", func(t *testing.T) string {
			dir := older(t)
			require.NoError(t, os.RemoveAll(filepath.Join(dir, ".operkit")))
			return dir
		}, "has no record of what operkit has written (.operkit/answers.yaml and .operkit/base.txtar)"},
		{"a record that isn't one", func(t *testing.T) string {
			dir := older(t)
			write(t, dir, record.AnswersFile, "nam: x\n")
			return dir
		}, ".operkit/answers.yaml: "},
		{"an edit that isn't committed", func(t *testing.T) string {
			dir := older(t)
			edit(t, dir, "main.go", "op.Main()", "op.Main() // mine")
			return dir
		}, "has changes that aren't committed: main.go: commit them, or run 'git stash --include-untracked'"},
		{"a file that git doesn't know", func(t *testing.T) string {
			dir := older(t)
			write(t, dir, "mine.go", "package main\n")
			return dir
		}, "has changes that aren't committed: mine.go: "},
		{"a folder that an outer repository ignores", func(t *testing.T) string {
			dir := older(t)
			require.NoError(t, os.RemoveAll(filepath.Join(dir, ".git")))
			write(t, filepath.Dir(dir), ".gitignore", "guestbook-operator\n")
			git(t, filepath.Dir(dir), "init", "-q")
			return dir
		}, "git ignores it: take it out of .gitignore, or run 'git init' there, and commit it"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			dir := row.project(t)
			before := tree(t, dir)
			r := execute(t, "update", "--dir", dir)
			assert.Equal(t, 2, r.code, r.stderr)
			assert.Empty(t, r.stdout)
			assert.Contains(t, r.stderr, row.want)
			after := tree(t, dir)
			for name, text := range before {
				if !strings.HasPrefix(name, ".git/") { // git refreshes its index
					assert.Equal(t, text, after[name], name)
				}
			}
		})
	}
}

// The commands of the help show and take back all of an update, and leave alone what is beside the project.
func TestUpdateIsTakenBack(t *testing.T) {
	t.Parallel()
	dir := older(t)
	outer := filepath.Dir(dir)
	require.NoError(t, os.RemoveAll(filepath.Join(dir, ".git")))
	write(t, outer, "beside", "1\n")
	git(t, outer, "init", "-q")
	commit(t, outer)
	write(t, outer, "beside", "2\n")
	before := tree(t, dir)
	done(t, "update", "--dir", dir, "--no-tidy")
	require.NotEqual(t, before, tree(t, dir))
	help := done(t, "update", "--help")
	for _, line := range []string{"git add -A . && git diff --cached .", "git add -A . && git restore --staged --worktree ."} {
		require.Contains(t, help, "\n  "+line+"\n")
		cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
		cmd.Dir = dir
		output, err := cmd.CombinedOutput()
		require.NoError(t, err, string(output))
		if strings.Contains(line, "diff") {
			assert.Contains(t, string(output), "+++ b/guestbook-operator/AGENTS.md", "a new file")
			assert.NotContains(t, string(output), "beside")
		}
	}
	assert.Equal(t, before, tree(t, dir))
	assert.Equal(t, "2\n", read(t, outer, "beside"))
}

func TestUpdateThatStopsHalfway(t *testing.T) {
	t.Parallel()
	dir := older(t)
	require.NoError(t, os.Symlink("nowhere", filepath.Join(dir, "AGENTS.md"))) // isn't there for a reader, and is for a writer
	commit(t, dir)
	r := execute(t, "update", "--dir", dir)
	assert.Equal(t, 1, r.code)
	assert.Contains(t, r.stderr, "AGENTS.md")
	assert.Contains(t, r.stderr, "\nThe update has stopped halfway. To go back, run:\n  cd "+dir+" && git add -A . && git restore --staged --worktree .\n")
}
