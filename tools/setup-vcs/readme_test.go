package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	return string(text)
}

// TestReadmeMake runs what the README shows for a Makefile in a repository.
func TestReadmeMake(t *testing.T) {
	t.Parallel()
	_, text, found := strings.Cut(readme(t), "```make\n")
	require.True(t, found)
	text, _, found = strings.Cut(text, "```")
	require.True(t, found)
	g := released(t)
	require.NoError(t, os.WriteFile(filepath.Join(g.dir, "Makefile"), []byte(text), 0o600))
	makes := func(args ...string) result {
		command := exec.Command("make", args...)
		command.Dir = g.dir
		command.Env = append(os.Environ(), "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"), "MAKEFLAGS=")
		return finish(t, command)
	}
	made := repository{t, g.dir + "-versions"}
	for range 2 {
		r := makes("versions")
		require.Equal(t, 0, r.code, r.stderr)
		assert.Equal(t, "", r.stderr)
		assert.Equal(t, []string{"refs/heads/1.1.0", "refs/heads/1.2.0", "refs/heads/v2.0.0"}, made.refs())
	}
	r := makes("--dry-run", "image")
	require.Equal(t, 0, r.code, r.stderr)
	assert.Contains(t, r.stdout, "docker build --build-context 'versions="+made.dir+"' --tag my-operator .")
	r = makes("versions", "SETUP_VCS=setup-vcs --tag-expr 7.0.0")
	assert.NotEqual(t, 0, r.code, "a failure fails the build")
	assert.Contains(t, r.stderr, "no expression matches any of the 4 tags")
	assert.Len(t, made.refs(), 3, "and what was there stays")
}

// TestReadmeExample runs the command line that it shows first.
func TestReadmeExample(t *testing.T) {
	t.Parallel()
	_, text, found := strings.Cut(readme(t), "```console\n$ ")
	require.True(t, found)
	text, _, _ = strings.Cut(text, "```")
	line, want, _ := strings.Cut(text, "\n")
	g := released(t)
	command := exec.Command("sh", "-c", line)
	command.Dir = g.dir
	command.Env = append(os.Environ(), "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"))
	r := finish(t, command)
	require.Equal(t, 0, r.code, r.stderr)
	// Ids and figures are other ones here.
	plain := func(text string) string {
		return regexp.MustCompile(`[0-9a-f]{12}|[0-9.]+ (objects|kB)|[0-9.]+m?s\b`).ReplaceAllString(text, "_")
	}
	assert.Equal(t, plain(want), plain(r.stderr+r.stdout))
}

// TestReadmeTables: the tables say what the program says itself.
func TestReadmeTables(t *testing.T) {
	t.Parallel()
	text := readme(t)
	help := strings.Join(strings.Fields(done(t, "", "--help").stdout), " ")
	_, codes, found := strings.Cut(text, "## Exit codes\n")
	require.True(t, found)
	codes, _, _ = strings.Cut(codes, "\n## ")
	rows := regexp.MustCompile(`(?m)^\| (\d+) \| (.*) \|$`).FindAllStringSubmatch(codes, -1)
	assert.Len(t, rows, 6)
	for _, row := range rows {
		assert.Contains(t, help, row[1]+" "+strings.ReplaceAll(row[2], "`", ""))
	}
	_, document, found := strings.Cut(text, "## The report as JSON\n")
	require.True(t, found)
	document, _, _ = strings.Cut(document, "\n## ")
	_, described, found := strings.Cut(help, "with the fields ")
	require.True(t, found)
	described, _, _ = strings.Cut(described, ". Exit codes:")
	for _, name := range regexp.MustCompile(`[a-zA-Z]+`).FindAllString(described, -1) {
		if name == "each" || name == "with" || name == "and" {
			continue
		}
		assert.Contains(t, document, "`"+name+"`")
	}
	for _, flag := range regexp.MustCompile(`\x60(--[a-z][a-z-]*)`).FindAllStringSubmatch(text, -1) {
		if flag[1] != "--filter" { // git's
			assert.Contains(t, help, flag[1])
		}
	}
}
