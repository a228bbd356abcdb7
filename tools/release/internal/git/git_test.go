package git_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/tools/release/internal/git"
	"github.com/operkit/operkit/tools/release/internal/repotest"
)

// TestInsideOfAHook: git tells a hook of its repository by variables that would lead elsewhere.
func TestInsideOfAHook(t *testing.T) {
	r := repotest.New(t, repotest.Files{"a": "a"})
	want := r.Git("rev-parse", "HEAD")
	other := repotest.New(t, repotest.Files{"b": "b"})
	r.Tag("mine")
	for name, value := range map[string]string{"GIT_DIR": filepath.Join(other.Root, ".git"), "GIT_WORK_TREE": other.Root, "GIT_INDEX_FILE": filepath.Join(other.Root, ".git", "index")} {
		t.Setenv(name, value)
	}
	head, err := git.Dir(r.Root).Resolve(t.Context(), "HEAD")
	require.NoError(t, err)
	assert.Equal(t, want, head)
	tags, err := git.Dir(r.Root).Tags(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{"mine"}, tags)
	files, err := r.Open().Files(t.Context(), "")
	require.NoError(t, err)
	assert.Equal(t, []string{"a"}, files)
}

func TestBeforeTheFirstCommit(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, repotest.Files{"a": "a"})
	at, err := git.Dir(r.Root).Time(t.Context())
	require.NoError(t, err)
	assert.WithinDuration(t, time.Now(), at, time.Minute)
	r.Git("update-ref", "-d", "HEAD")
	at, err = git.Dir(r.Root).Time(t.Context())
	require.NoError(t, err)
	assert.Equal(t, time.Unix(0, 0).UTC(), at)
	_, err = git.Dir(r.Root).Resolve(t.Context(), "HEAD")
	assert.ErrorContains(t, err, "git rev-parse ")
}

func TestFilesThatCount(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, repotest.Files{"in/a": "a", "in/ü \"b\"\n": "b", "out/c": "c", ".gitignore": "d\n"})
	require.NoError(t, os.Symlink("a", filepath.Join(r.Root, "in", "link")))
	r.Commit("a link")
	r.Write(repotest.Files{"in/d": "d", "in/e": "e"})
	files, err := r.Open().Files(t.Context(), "", "in")
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{"in/a", "in/ü \"b\"\n", "in/e"}, files, "no link, nothing that is ignored, but what is new")
	archived, err := git.Dir(r.Root).Archive(t.Context(), "HEAD", "in", "nowhere")
	require.NoError(t, err)
	assert.Equal(t, map[string][]byte{"in/a": []byte("a"), "in/ü \"b\"\n": []byte("b")}, archived)
	archived, err = git.Dir(r.Root).Archive(t.Context(), "HEAD", "nowhere")
	require.NoError(t, err)
	assert.Empty(t, archived)
}

func TestPublishIsAllOrNothing(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, repotest.Files{"a": "a"})
	head := r.Git("rev-parse", "HEAD")
	dir := git.Dir(r.Root)
	commit, err := dir.Commit(t.Context(), head, "more", map[string][]byte{"b/c": []byte("c"), "a": []byte("A")})
	require.NoError(t, err)
	assert.Equal(t, "A\nb/c", r.Git("show", commit+":a")+"\n"+r.Git("diff", "--name-only", head, commit, "--", "b"))
	assert.Equal(t, head, r.Git("rev-parse", "HEAD"), "nothing names it yet")
	moved := git.Update{Reference: "refs/heads/main", New: commit, Old: head}
	for _, wrong := range []git.Update{
		{Reference: "refs/tags/x", New: commit, Old: head}, {Reference: "refs/heads/main/x", New: commit}, {Reference: "refs/heads/main", New: commit},
	} {
		require.Error(t, dir.Publish(t.Context(), []git.Update{moved, wrong}))
		assert.Equal(t, head, r.Git("rev-parse", "HEAD"))
	}
	require.NoError(t, dir.Publish(t.Context(), []git.Update{moved, {Reference: "refs/tags/x", New: commit}}))
	assert.Equal(t, commit, r.Git("rev-parse", "x"))

	r.Write(repotest.Files{"a": "mine"})
	require.Error(t, dir.Forward(t.Context(), head, commit), "what somebody has changed isn't overwritten")
	r.Write(repotest.Files{"a": "a"})
	require.NoError(t, dir.Forward(t.Context(), head, commit))
	assert.Equal(t, "", r.Git("status", "--porcelain"))
}
