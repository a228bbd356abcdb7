package vcs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// files are those below a folder, with what they are and hold, the marker left out.
func files(t *testing.T, root string) map[string]string {
	t.Helper()
	found := map[string]string{}
	require.NoError(t, filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		name, _ := filepath.Rel(root, path)
		if err != nil || e.IsDir() || name == markerName || strings.HasPrefix(name, ".git") {
			if e != nil && e.IsDir() && e.Name() == ".git" {
				return filepath.SkipDir
			}
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			target, err := os.Readlink(path)
			found[name] = "-> " + target
			return err
		}
		content, err := os.ReadFile(path)
		found[name] = fmt.Sprintf("%v %q", info.Mode().Perm()&0o111 != 0, content)
		return err
	}))
	return found
}

// worktree is what git makes of a commit.
func (g *gitRepository) worktree(commit Commit) map[string]string {
	g.t.Helper()
	path := filepath.Join(g.t.TempDir(), "git")
	g.git("worktree", "add", "-q", "--detach", "--force", path, string(commit))
	return files(g.t, path)
}

func TestCheckout(t *testing.T) {
	t.Parallel()
	g, first, second := released(t)
	for _, packed := range []bool{false, true} {
		if packed {
			g.git("gc", "-q")
		}
		r := g.open()
		base := t.TempDir()
		for revision, commit := range map[string]Commit{"1.0.0": first, "1.1.0": second, "feature/x": first, string(second): second} {
			path := filepath.Join(base, strings.ReplaceAll(revision, "/", "-"), "deep")
			got, err := r.Checkout(t.Context(), revision, path, Worktree)
			require.NoError(t, err)
			assert.Equal(t, Checkout{Path: path, Commit: commit}, got, "vcs 17")
			assert.Equal(t, g.worktree(commit), files(t, path), "as git makes it")
			got, err = r.Checkout(t.Context(), revision, path, Worktree)
			require.NoError(t, err)
			assert.Equal(t, Checkout{Path: path, Commit: commit, Reused: true}, got, "vcs 17: what is there is reused")
		}
		entries, err := os.ReadDir(filepath.Join(base, "1.0.0"))
		require.NoError(t, err)
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		assert.Equal(t, []string{".deep.lock", "deep"}, names, "nothing temporary is left")
		assert.Empty(t, g.git("status", "--porcelain"), "vcs W5: nothing is written into the source")
		assert.NotContains(t, g.git("for-each-ref"), "deep")
	}
}

func TestClone(t *testing.T) {
	t.Parallel()
	g, first, second := released(t)
	for _, packed := range []bool{false, true} {
		if packed {
			g.git("gc", "-q")
		}
		path := filepath.Join(t.TempDir(), "one")
		got, err := g.open().Checkout(t.Context(), "1.0.0", path, Clone)
		require.NoError(t, err)
		assert.Equal(t, Checkout{Path: path, Commit: first}, got)
		assert.Equal(t, g.worktree(first), files(t, path))
		clone := &gitRepository{t, path}
		assert.Equal(t, string(first), clone.git("rev-parse", "HEAD"), "vcs W4: the commit is what is checked out")
		assert.Equal(t, "HEAD", clone.git("rev-parse", "--abbrev-ref", "HEAD"), "of no branch")
		assert.Empty(t, clone.git("status", "--porcelain"), "git sees that nothing is changed")
		assert.Equal(t, string(second), clone.git("rev-parse", "1.1.0^{commit}"), "all else is there too")
		assert.Empty(t, clone.git("remote"), "it knows nothing of where it is from")
		clone.git("fsck", "--strict")
		clone.git("checkout", "-q", "1.1.0")
		again, err := Open(path)
		require.NoError(t, err)
		require.NoError(t, again.Close())
	}
}

// TestCloneOfLeftovers has an index whose pack is gone, as git leaves it that is killed.
func TestCloneOfLeftovers(t *testing.T) {
	t.Parallel()
	g, first, _ := released(t)
	g.git("repack", "-adq")
	packs, err := filepath.Glob(filepath.Join(g.dir, ".git", "objects", "pack", "*.idx"))
	require.NoError(t, err)
	require.Len(t, packs, 1)
	content, err := os.ReadFile(packs[0])
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(packs[0]), "pack-"+strings.Repeat("1", 40)+".idx"), content, 0o600))
	path := filepath.Join(t.TempDir(), "one")
	_, err = g.open().Checkout(t.Context(), "1.0.0", path, Clone)
	require.NoError(t, err)
	clone := &gitRepository{t, path}
	clone.git("fsck", "--strict")
	assert.Equal(t, string(first), clone.git("rev-parse", "HEAD"))
	assert.Contains(t, clone.git("count-objects", "-v"), "garbage: 0")
}

func TestCloneOfAShallowClone(t *testing.T) {
	t.Parallel()
	g, _, second := released(t)
	shallow := &gitRepository{t, filepath.Join(t.TempDir(), "shallow")}
	g.git("clone", "-q", "--depth=1", "file://"+g.dir, shallow.dir)
	path := filepath.Join(t.TempDir(), "one")
	_, err := shallow.open().Checkout(t.Context(), "main", path, Clone)
	require.NoError(t, err)
	clone := &gitRepository{t, path}
	clone.git("fsck", "--strict")
	assert.Equal(t, string(second), clone.git("log", "--format=%H"), "it knows that it has no more commits")
}

func TestCheckoutOfAPartialClone(t *testing.T) {
	t.Parallel()
	g, _, _ := released(t)
	g.git("config", "uploadpack.allowFilter", "true")
	partial := &gitRepository{t, filepath.Join(t.TempDir(), "partial")}
	g.git("clone", "-q", "--bare", "--filter=blob:none", "file://"+g.dir, partial.dir)
	_, err := partial.open().Checkout(t.Context(), "1.0.0", filepath.Join(t.TempDir(), "one"), Worktree)
	require.ErrorContains(t, err, "object not found: the repository "+partial.dir+" is a partial clone, which has only some of its objects: clone all of it")
}

func TestCheckoutShares(t *testing.T) {
	t.Parallel()
	g, first, _ := released(t)
	r := g.open()
	path := filepath.Join(t.TempDir(), "one")
	_, err := r.Checkout(t.Context(), "1.0.0", path, Worktree)
	require.NoError(t, err)
	t.Run("vcs 19: two names of one commit", func(t *testing.T) {
		got, err := r.Checkout(t.Context(), "feature/x", path, Worktree)
		require.NoError(t, err)
		assert.Equal(t, Checkout{Path: path, Commit: first, Reused: true}, got)
	})
}

func TestCheckoutRefuses(t *testing.T) {
	t.Parallel()
	g, _, _ := released(t)
	r := g.open()
	base := t.TempDir()
	taken, foreign, file, link, broken := filepath.Join(base, "taken"), filepath.Join(base, "foreign"), filepath.Join(base, "file"), filepath.Join(base, "link"), filepath.Join(base, "broken")
	_, err := r.Checkout(t.Context(), "1.0.0", taken, Worktree)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(foreign, "theirs"), 0o755))
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.NoError(t, os.Symlink(taken, link))
	require.NoError(t, os.Mkdir(broken, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(broken, markerName), []byte("{"), 0o600))
	for _, row := range []struct {
		reason, revision, path string
		method                 Method
		want                   string
	}{
		{"vcs 17: another commit", "1.1.0", taken, Worktree, "it holds the commit"},
		{"another method", "1.0.0", taken, Clone, "it is a worktree instead of a clone"},
		{"vcs 17: something else", "1.0.0", foreign, Worktree, "it holds something that isn't a checkout"},
		{"a file", "1.0.0", file, Worktree, "it is a file"},
		{"a link", "1.0.0", link, Worktree, "it is a symbolic link"},
		{"a mark that can't be read", "1.0.0", broken, Worktree, "remove the folder"},
		{"vcs 17: an unknown method", "1.0.0", filepath.Join(base, "new"), "rsync", `method "rsync": use worktree or clone`},
		{"vcs 17: an unknown revision", "3.0.0", filepath.Join(base, "new"), Worktree, "no such tag"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			_, err := r.Checkout(t.Context(), row.revision, row.path, row.method)
			var config *ConfigError
			require.True(t, errors.As(err, &config), "%v", err)
			assert.ErrorContains(t, err, row.want)
			assert.NoDirExists(t, filepath.Join(base, "new"), "nothing was made")
		})
	}
	assert.DirExists(t, filepath.Join(foreign, "theirs"))
}

func TestCheckoutIntoAnEmptyFolder(t *testing.T) {
	t.Parallel()
	g, _, second := released(t)
	path := t.TempDir()
	got, err := g.open().Checkout(t.Context(), "1.1.0", path, Worktree)
	require.NoError(t, err)
	assert.Equal(t, second, got.Commit, "vcs W7: somebody has made the folder only")
	assert.FileExists(t, filepath.Join(path, "README.md"))
}

func TestCheckoutAfterAKill(t *testing.T) {
	t.Parallel()
	g, _, second := released(t)
	base := t.TempDir()
	path := filepath.Join(base, "one")
	left := filepath.Join(base, temporary(path)+"ABCDEFGHIJKL")
	require.NoError(t, os.MkdirAll(filepath.Join(left, "half"), 0o755))
	require.NoError(t, os.Chmod(left, 0o555))
	require.NoError(t, os.Mkdir(filepath.Join(base, ".other.tmp-ABCDEFGHIJKL"), 0o755))
	got, err := g.open().Checkout(t.Context(), "1.1.0", path, Worktree)
	require.NoError(t, err)
	assert.Equal(t, second, got.Commit)
	assert.NoDirExists(t, left, "vcs W7: what somebody left who was killed is removed")
	assert.DirExists(t, filepath.Join(base, ".other.tmp-ABCDEFGHIJKL"), "another folder's isn't")
}

func TestContention(t *testing.T) {
	t.Parallel()
	g, _, _ := released(t)
	r := g.open()
	path := filepath.Join(t.TempDir(), "one")
	unlock, err := tryLock(lockOf(path))
	require.NoError(t, err)
	var contention *ContentionError
	_, err = r.Checkout(t.Context(), "1.0.0", path, Worktree, NoWait())
	require.True(t, errors.As(err, &contention), "%v", err)
	assert.Positive(t, contention.RetryAfter)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = r.Checkout(ctx, "1.0.0", path, Worktree)
	require.True(t, errors.As(err, &contention), "%v", err)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	done := make(chan error, 1)
	go func() {
		_, err := r.Checkout(t.Context(), "1.0.0", path, Worktree)
		done <- err
	}()
	time.Sleep(20 * time.Millisecond)
	unlock()
	require.NoError(t, <-done, "it waits until its turn comes")
}

func TestTogether(t *testing.T) {
	t.Parallel()
	g, first, second := released(t)
	want := map[string]map[string]string{"1.0.0": g.worktree(first), "1.1.0": g.worktree(second)}
	base := t.TempDir()
	var all sync.WaitGroup
	var mu sync.Mutex
	made := map[string]int{}
	for i := range 32 {
		all.Go(func() {
			revision := []string{"1.0.0", "1.1.0"}[i%2]
			r, err := Open(g.dir)
			if !assert.NoError(t, err) {
				return
			}
			defer func() { assert.NoError(t, r.Close()) }()
			got, err := r.Checkout(t.Context(), revision, filepath.Join(base, revision), Worktree)
			assert.NoError(t, err)
			assert.Equal(t, want[revision], files(t, got.Path), "nobody sees half of it")
			mu.Lock()
			defer mu.Unlock()
			if !got.Reused {
				made[revision]++
			}
		})
	}
	all.Wait()
	assert.Equal(t, map[string]int{"1.0.0": 1, "1.1.0": 1}, made, "each is made once")
}

func TestOneRepositoryTogether(t *testing.T) {
	t.Parallel()
	g, _, _ := released(t)
	r := g.open()
	base := t.TempDir()
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			_, err := r.Checkout(t.Context(), []string{"1.0.0", "1.1.0"}[i%2], filepath.Join(base, fmt.Sprint(i)), Worktree)
			assert.NoError(t, err)
			_, err = r.Refs(t.Context())
			assert.NoError(t, err)
		})
	}
	all.Wait()
}

func TestReadOnly(t *testing.T) {
	t.Parallel()
	g, _, _ := released(t)
	r := g.open()
	path := filepath.Join(t.TempDir(), "one")
	_, err := r.Checkout(t.Context(), "1.0.0", path, Worktree, ReadOnly(), Durable())
	require.NoError(t, err)
	t.Cleanup(func() { _ = removeAll(path) })
	for name, want := range map[string]fs.FileMode{"README.md": 0o444, "bin/run": 0o555, "bin": 0o555 | fs.ModeDir, ".": 0o555 | fs.ModeDir} {
		info, err := os.Stat(filepath.Join(path, name))
		require.NoError(t, err)
		assert.Equal(t, want, info.Mode()&(fs.ModeDir|0o777), name)
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	g, _, _ := released(t)
	ctx, cancel := context.WithCancel(t.Context())
	r := g.open()
	cancel()
	path := filepath.Join(t.TempDir(), "one")
	_, err := r.Checkout(ctx, "1.0.0", path, Worktree)
	require.ErrorIs(t, err, context.Canceled)
	assert.NoDirExists(t, path)
}
