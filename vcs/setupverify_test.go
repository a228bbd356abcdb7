package vcs

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// edited changes the text of a file of a repository.
func (g *gitRepository) edited(name string, change func(text string) string) {
	g.t.Helper()
	path := filepath.Join(g.dir, ".git", name)
	text, err := os.ReadFile(path)
	require.NoError(g.t, err)
	require.NoError(g.t, os.WriteFile(path, []byte(change(string(text))), 0o644))
}

// packFile is the file of the one pack that ends so. It may be written.
func (g *gitRepository) packFile(end string) (name string) {
	g.t.Helper()
	found, err := filepath.Glob(filepath.Join(g.dir, ".git", "objects", "pack", "*"+end))
	require.NoError(g.t, err)
	require.Len(g.t, found, 1)
	require.NoError(g.t, os.Chmod(found[0], 0o600))
	name, err = filepath.Rel(filepath.Join(g.dir, ".git"), found[0])
	require.NoError(g.t, err)
	return name
}

// flip changes a byte in the middle.
func flip(text string) string {
	content := []byte(text)
	content[len(content)/2] ^= 1
	return string(content)
}

// repack makes the one pack anew, of other objects.
func (g *gitRepository) repack(change func(names []string) []string) {
	g.t.Helper()
	git := filepath.Join(g.dir, ".git")
	names := change(strings.Fields(g.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)")))
	require.NoError(g.t, os.WriteFile(filepath.Join(git, "names"), []byte(strings.Join(names, "\n")+"\n"), 0o600))
	// An alias is run by a shell, which gives it the names.
	g.git("-c", "alias.feed=!git pack-objects -q .git/new <.git/names", "feed")
	for _, end := range []string{".pack", ".idx"} {
		require.NoError(g.t, os.Remove(filepath.Join(git, g.packFile(end))))
		made, err := filepath.Glob(filepath.Join(git, "new-*"+end))
		require.NoError(g.t, err)
		require.NoError(g.t, os.Rename(made[0], filepath.Join(git, "objects", "pack", strings.Replace(filepath.Base(made[0]), "new", "pack", 1))))
	}
}

// putPacked adds an object to the one pack.
func (g *gitRepository) putPacked(kind, text string) {
	g.t.Helper()
	more := g.put(kind, []byte(text))
	g.repack(func(names []string) []string { return names })
	require.NoError(g.t, os.RemoveAll(filepath.Join(g.dir, ".git", "objects", more[:2])))
}

// Whatever is wrong with what was made, what is there stays.
func TestSetupVerifies(t *testing.T) {
	t.Parallel()
	g := shipped(t)
	g.git("gc", "-q")
	history, blob := g.git("rev-parse", "HEAD~1"), g.git("rev-parse", "1.1.0:large.txt")
	for _, row := range []struct {
		reason string
		spoil  func(half *gitRepository)
		want   string
	}{
		{"a byte of the pack", func(half *gitRepository) { half.edited(half.packFile(".pack"), flip) }, "its checksum is wrong"},
		{"a byte of the index", func(half *gitRepository) { half.edited(half.packFile(".idx"), flip) }, "its checksum is wrong"},
		{"vcs W14: commits of the source", func(half *gitRepository) { half.git("fetch", "-q", g.dir, history) }, "its objects aren't in exactly one pack"},
		{"vcs W14: a commit more, in the pack", func(half *gitRepository) {
			half.putPacked("commit", "tree "+emptyTree.String()+"\n"+committer+"\nsecret\n")
		}, "no version needs it"},
		{"a file that no version has", func(half *gitRepository) { half.put("blob", []byte("not asked for")) }, "its objects aren't in exactly one pack"},
		{"the same, in the pack", func(half *gitRepository) { half.putPacked("blob", "not asked for") }, "no version needs it"},
		{"a tag of git, in the pack", func(half *gitRepository) {
			half.putPacked("tag", "object "+half.git("rev-parse", "HEAD")+"\ntype commit\ntag x\n\nx\n")
		}, "it is a tag, which nothing needs"},
		{"a file less", func(half *gitRepository) {
			half.repack(func(names []string) []string {
				return slices.DeleteFunc(names, func(name string) bool { return name == blob })
			})
		}, "blob " + blob + ": it is missing"},
		{"a version less", func(half *gitRepository) {
			half.edited("packed-refs", func(text string) string { return text[:strings.LastIndex(strings.TrimSpace(text), "\n")+1] })
		}, "reference refs/heads/v2.0.0: it is missing"},
		{"a version more", func(half *gitRepository) {
			half.edited("packed-refs", func(text string) string { return text + strings.Fields(text)[5] + " refs/heads/z\n" })
		}, "reference refs/heads/z: "},
		{"versions exchanged", func(half *gitRepository) {
			half.edited("packed-refs", func(text string) string {
				lines := strings.Split(text, "\n")
				lines[1], lines[2] = lines[2][:40]+lines[1][40:], lines[1][:40]+lines[2][40:]
				return strings.Join(lines, "\n")
			})
		}, "and should be"},
		{"another root", func(half *gitRepository) {
			half.edited("HEAD", func(string) string { return "ref: refs/heads/1.1.0\n" })
		}, "reference HEAD"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			base := t.TempDir()
			path := filepath.Join(base, "versions")
			require.NoError(t, os.MkdirAll(filepath.Join(path, "theirs"), 0o755))
			spoiled := false
			_, err := Setup(t.Context(), SetupOptions{Source: g.dir, Destination: path, Force: true, Verify: true, Progress: func(p Progress) {
				if p.Phase != Verifying || spoiled {
					return
				}
				spoiled = true
				found, err := filepath.Glob(filepath.Join(base, temporary(path)+"*"))
				require.NoError(t, err)
				require.Len(t, found, 1)
				row.spoil(&gitRepository{t, found[0]})
			}})
			var failed *RuntimeError
			require.True(t, errors.As(err, &failed), "%v", err)
			assert.ErrorContains(t, err, "the new repository is wrong: ")
			assert.ErrorContains(t, err, row.want)
			assert.DirExists(t, filepath.Join(path, "theirs"), "what was there is unharmed")
			entries, err := os.ReadDir(base)
			require.NoError(t, err)
			assert.Len(t, entries, 1, "nothing is left")
		})
	}
}

// TestResultOfALargeFile reads a file back that is longer than what is to be unpacked in memory. It is alone, since all memory that is taken is counted.
func TestResultOfALargeFile(t *testing.T) {
	const size, whole = 16 << 20, 1 << 20
	g := newGit(t)
	g.write("large", strings.Repeat("\x00", size), 0o644)
	g.commit("large")
	g.git("tag", "1.0.0")
	result, report := g.setup(SetupOptions{})
	git := filepath.Join(result.dir, ".git")
	pack, err := onePack(git)
	require.NoError(t, err)
	r := newResultReader(git, whole)
	defer func() { require.NoError(t, r.storage.Close()) }()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	require.NoError(t, r.readObjects(t.Context(), pack, func(int) {}))
	runtime.ReadMemStats(&after)
	assert.Len(t, r.kinds, report.Objects)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(size/4))
}
