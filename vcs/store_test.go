package vcs

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPackedAnew has git pack a repository while that is open: what is in new packs is found, and what was in old ones too.
func TestPackedAnew(t *testing.T) {
	t.Parallel()
	g, first, _ := released(t)
	g.git("repack", "-adq")
	r := g.open()
	base := t.TempDir()
	_, err := r.Checkout(t.Context(), "1.0.0", filepath.Join(base, "before"), Worktree)
	require.NoError(t, err)
	for i := range 3 {
		g.write("README.md", fmt.Sprint("version ", i), 0o644)
		commit := g.commit("again")
		version := fmt.Sprintf("2.%d.0", i)
		g.git("tag", version)
		g.git("repack", "-dq") // beside the others
		got, err := r.Resolve(t.Context(), version)
		require.NoError(t, err)
		assert.Equal(t, commit, got)
	}
	g.git("gc", "-q", "--prune=now")
	g.write("README.md", "loose", 0o644)
	loose := g.commit("loose")
	for revision, want := range map[string]Commit{"1.0.0": first, string(first[:9]): first, string(loose): loose, string(loose[:9]): loose} {
		got, err := r.Resolve(t.Context(), revision)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	path := filepath.Join(base, "after")
	_, err = r.Checkout(t.Context(), string(loose), path, Worktree)
	require.NoError(t, err)
	assert.Equal(t, g.worktree(loose), files(t, path))
}

// TestPackedAtOnce has git pack a repository so soon after it was looked at that the time of the folder is the same: not every file system has finer times.
func TestPackedAtOnce(t *testing.T) {
	t.Parallel()
	g, first, _ := released(t)
	packs := filepath.Join(g.dir, ".git", "objects", "pack")
	now := time.Now().Add(time.Hour) // whatever this machine waits for
	require.NoError(t, os.Chtimes(packs, now, now))
	r := g.open()
	_, err := r.Resolve(t.Context(), string(first))
	require.NoError(t, err)
	g.git("repack", "-adq")
	require.NoError(t, os.Chtimes(packs, now, now))
	got, err := r.Resolve(t.Context(), "1.0.0")
	require.NoError(t, err)
	assert.Equal(t, first, got)
}

// TestPacksThatGo has git pack a repository again and again: the files of packs that it removes are closed, so that the disk has their room again.
func TestPacksThatGo(t *testing.T) {
	t.Parallel()
	g, _, _ := released(t)
	g.git("repack", "-adq")
	r := g.open()
	for i := range 5 {
		g.write("README.md", fmt.Sprint("version ", i), 0o644)
		commit := g.commit("again")
		_, err := r.Checkout(t.Context(), string(commit), filepath.Join(t.TempDir(), "one"), Worktree)
		require.NoError(t, err)
		g.git("repack", "-adq")
	}
	_, err := r.Resolve(t.Context(), g.git("rev-parse", "HEAD"))
	require.NoError(t, err)
	assert.Len(t, r.store.packs, 1)
	open, err := filepath.Glob("/proc/self/fd/*")
	require.NoError(t, err)
	for _, file := range open {
		if target, err := os.Readlink(file); err == nil && strings.HasPrefix(target, g.dir) {
			assert.NotContains(t, target, "deleted")
		}
	}
}

// TestWhileGitPacks reads all that there is while git packs it anew, removes old packs, and the files of objects that are packed.
func TestWhileGitPacks(t *testing.T) {
	t.Parallel()
	g, first, second := released(t)
	want := map[Commit]map[string]string{first: g.worktree(first), second: g.worktree(second)}
	loose := g.looseObjects()
	r := g.open()
	base := t.TempDir()
	var reading sync.WaitGroup
	packed := make(chan struct{})
	for i, commit := range []Commit{first, second, first, second} {
		reading.Go(func() {
			for n := 0; ; n++ {
				path := filepath.Join(base, fmt.Sprintf("%d-%d", i, n))
				_, err := r.Checkout(t.Context(), string(commit), path, []Method{Worktree, Clone}[i/2])
				if !assert.NoError(t, err) {
					return
				}
				assert.Equal(t, want[commit], files(t, path))
				select {
				case <-packed:
					return
				default:
				}
			}
		})
	}
	for i := range 10 {
		g.git("tag", "-f", "-a", "-m", fmt.Sprint(i), "moving") // so that each pack is another one
		g.git("repack", "-adq")
		g.git("tag", "-f", "-a", "-m", fmt.Sprint("beside ", i), "moving")
		g.git("repack", "-dq")
		g.unpack(loose)
	}
	close(packed)
	reading.Wait()
}

// looseObjects are the files of all objects, by their paths, of which none is packed yet.
func (g *gitRepository) looseObjects() map[string][]byte {
	g.t.Helper()
	found, err := filepath.Glob(filepath.Join(g.dir, ".git", "objects", "[0-9a-f][0-9a-f]", "*"))
	require.NoError(g.t, err)
	objects := map[string][]byte{}
	for _, path := range found {
		objects[path], err = os.ReadFile(path)
		require.NoError(g.t, err)
	}
	return objects
}

// unpack has objects have files of their own, and be in no pack, as git does it: what goes has been somewhere else before.
func (g *gitRepository) unpack(objects map[string][]byte) {
	g.t.Helper()
	for path, content := range objects {
		half := filepath.Join(g.dir, ".git", "objects", "tmp_obj")
		require.NoError(g.t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(g.t, os.WriteFile(half, content, 0o600))
		require.NoError(g.t, os.Rename(half, path))
	}
	for _, ending := range []string{"idx", "pack"} {
		found, err := filepath.Glob(filepath.Join(g.dir, ".git", "objects", "pack", "*."+ending))
		require.NoError(g.t, err)
		for _, path := range found {
			require.NoError(g.t, os.Remove(path))
		}
	}
}

// TestSetupOfLooseObjects has nothing that could be copied: what is packed anew isn't much larger than git makes it, which tries more.
func TestSetupOfLooseObjects(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	g.git("config", "gc.auto", "0")
	random := rand.New(rand.NewPCG(1, 2))
	lines := make([]string, 2000)
	for i := range lines {
		lines[i] = fmt.Sprintf("line %d of %d", i, random.IntN(1_000_000))
	}
	for version := range 80 { // more than differences may follow each other
		for range 3 {
			lines[random.IntN(len(lines))] = fmt.Sprint("changed ", random.Uint64())
		}
		g.write("deep/lines.txt", strings.Join(lines, "\n"), 0o644)
		g.write(fmt.Sprintf("deep/new/%d.yaml", version), fmt.Sprint("a: ", random.Uint64()), 0o644)
		g.commit("again")
		g.git("tag", fmt.Sprintf("1.0.%03d", version))
	}
	result, report := g.setup(SetupOptions{})
	assert.Empty(t, result.git("fsck", "--strict", "--no-dangling"))
	for _, kept := range report.Kept {
		assert.Equal(t, g.git("rev-parse", kept.Ref.Full+"^{tree}"), result.git("rev-parse", kept.Name+"^{tree}"))
	}
	result.git("-c", "pack.threads=1", "repack", "-adfq")
	packs, err := filepath.Glob(filepath.Join(result.dir, ".git", "objects", "pack", "*.pack"))
	require.NoError(t, err)
	require.Len(t, packs, 1)
	info, err := os.Stat(packs[0])
	require.NoError(t, err)
	assert.LessOrEqual(t, float64(report.Bytes), 1.5*float64(info.Size()), "git packs it as %d bytes", info.Size())
	_, again := g.setup(SetupOptions{})
	assert.Equal(t, report.Bytes, again.Bytes, "vcs W15: twice the same")
}

func TestByTime(t *testing.T) {
	t.Parallel()
	g, first, _ := released(t)
	at := func(time string) Kept {
		return Kept{Ref: Ref{Commit: Commit(g.put("commit", []byte("tree "+g.git("write-tree")+"\nauthor A <a@x> 5 +0000\ncommitter C <c@x> "+time+" +0100\n\nx\n")))}}
	}
	kept := []Kept{at("30"), at("4"), {Ref: Ref{Commit: first}}, at("20"), {Ref: Ref{Commit: Commit(strings.Repeat("1", 40))}}, at("-5")}
	assert.Equal(t, []int{5, 4, 1, 3, 0, 2}, g.open().byTime(kept))
}
