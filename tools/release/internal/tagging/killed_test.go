package tagging_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/tools/release/internal/repotest"
)

// gitThatKills runs git, and kills whoever called it before the call of a number or, with after, once that has ended.
const gitThatKills = `#!/bin/sh
calls="$KILL_FOLDER/calls"
echo "$1" >> "$calls"
number=$(wc -l < "$calls")
if [ "$number" -eq "$KILL_AT" ] && [ "$KILL_WHEN" = before ]; then kill -9 $PPID; exit 1; fi
"$REAL_GIT" "$@"
code=$?
if [ "$number" -eq "$KILL_AT" ]; then kill -9 $PPID; fi
exit $code
`

// TestKilled kills a release before and after each of its calls of git: nothing is done then, or all of it.
func TestKilled(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(bin, "git"), []byte(gitThatKills), 0o755))
	for _, when := range []string{"before", "after"} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			nothing, all := 0, 0
			for at := 1; ; at++ {
				r := repotest.New(t, repotest.Files{
					"a/go.mod": repotest.Mod("a"), "a/a.go": "package a\n", "a/CHANGELOG.md": repotest.Changelog,
					"b/go.mod": repotest.Mod("b", "a"), "b/b.go": "package b\n\nimport _ \"example.com/kit/a\"\n", "b/CHANGELOG.md": repotest.Changelog,
				})
				if !killed(t, r.Root, bin, when, at) {
					assert.Greater(t, nothing, 10, "it can be killed at many places")
					assert.Positive(t, all, "of which some are behind the change of references")
					return
				}
				if done(t, r) {
					all++
				} else {
					nothing++
				}
			}
		})
	}
}

// killed releases a repository and is killed at a call of git. It reports whether that call came.
func killed(t *testing.T, root, bin, when string, at int) bool {
	t.Helper()
	git, err := exec.LookPath("git")
	require.NoError(t, err)
	folder := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), rootVariable+"="+root, "PATH="+bin+":"+os.Getenv("PATH"), "REAL_GIT="+git,
		"KILL_FOLDER="+folder, "KILL_WHEN="+when, fmt.Sprintf("KILL_AT=%d", at), "TMPDIR="+folder)
	out, err := cmd.CombinedOutput()
	calls, readErr := os.ReadFile(filepath.Join(folder, "calls"))
	require.NoError(t, readErr)
	if err == nil {
		require.Less(t, strings.Count(string(calls), "\n"), at, "it wasn't killed since it had ended: %s", calls)
		return false
	}
	require.Empty(t, string(out), "no error: it was killed")
	return true
}

// done wants a repository in which nothing was done, and makes the release then, or in which all was. It tells which.
func done(t *testing.T, r *repotest.Repository) bool {
	t.Helper()
	tags := r.Git("tag", "--list")
	if tags == "" {
		assert.Equal(t, "1", r.Git("rev-list", "--count", "HEAD"), "the branch is as it was")
		assert.Empty(t, r.Git("status", "--porcelain"))
		_, err := release(t.Context(), r.Root)
		require.NoError(t, err, "the next one does it")
	} else {
		assert.Equal(t, "2", r.Git("rev-list", "--count", "HEAD"), "the branch has its commit")
		r.Git("reset", "--hard")
	}
	assert.Empty(t, r.Git("status", "--porcelain"))
	assert.Equal(t, "a/v0.1.0\nb/v0.1.0", r.Git("tag", "--list"))
	assert.NotContains(t, r.Git("show", "b/v0.1.0:b/go.mod"), "=>")
	return tags != ""
}
