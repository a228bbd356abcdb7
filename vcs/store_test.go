package vcs

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
