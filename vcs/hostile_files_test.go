package vcs

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestHostileFiles has files of the repository be other than git makes them. Each of what a repository is used for tells of it, in time, without taking the
// memory that the files ask for, and without anything that is written.
func TestHostileFiles(t *testing.T) {
	t.Parallel()
	inGit := func(g *gitRepository, name string) string { return filepath.Join(g.dir, ".git", name) }
	pipe := func(name string) func(g *gitRepository) {
		return func(g *gitRepository) {
			_ = os.Remove(inGit(g, name))
			require.NoError(g.t, syscall.Mkfifo(inGit(g, name), 0o600))
		}
	}
	packed := func(ending string, change func(content []byte) []byte) func(g *gitRepository) {
		return func(g *gitRepository) {
			g.git("gc", "-q")
			found, err := filepath.Glob(inGit(g, "objects/pack/*"+ending))
			require.NoError(g.t, err)
			require.Len(g.t, found, 1)
			content, err := os.ReadFile(found[0])
			require.NoError(g.t, err)
			require.NoError(g.t, os.Remove(found[0]))
			if content = change(content); content != nil {
				require.NoError(g.t, os.WriteFile(found[0], content, 0o600))
			}
		}
	}
	write := func(name, text string) func(g *gitRepository) {
		return func(g *gitRepository) {
			require.NoError(g.t, os.MkdirAll(filepath.Dir(inGit(g, name)), 0o755))
			require.NoError(g.t, os.WriteFile(inGit(g, name), []byte(text), 0o600))
		}
	}
	link := func(name, target string) func(g *gitRepository) {
		return func(g *gitRepository) {
			require.NoError(g.t, os.RemoveAll(inGit(g, name)))
			require.NoError(g.t, os.Symlink(target, inGit(g, name)))
		}
	}
	loose := func(kind string, content []byte) func(g *gitRepository) {
		return func(g *gitRepository) {
			id := strings.Repeat("8", 40)
			var file bytes.Buffer
			w := zlib.NewWriter(&file)
			_, _ = io.WriteString(w, kind)
			_, _ = w.Write(content)
			_ = w.Close()
			g.putRaw(id, file.Bytes())
			if strings.HasPrefix(kind, "blob") {
				g.tag(g.putTree(item{"100644", "a", id}))
				g.git("tag", "-f", "1.0.0", "bad")
				return
			}
			g.ref("1.0.0", id)
		}
	}
	large := func(size, newer int) func(g *gitRepository) {
		return func(g *gitRepository) {
			for i, size := range []int{size, newer} {
				g.write("large", strings.Repeat("a line of a file\n", size/17)+fmt.Sprint(i), 0o644)
				g.git("tag", "-f", fmt.Sprintf("1.%d.0", i), string(g.commit("large")))
			}
			g.git("gc", "-q", "--prune=now")
		}
	}
	for _, row := range []struct {
		reason string
		make   func(g *gitRepository)
		want   string
	}{
		{"a pack that is cut off (CVE-2026-25934)", packed(".pack", func(c []byte) []byte { return c[:len(c)-30] }), "the pack is broken"},
		{"a pack with other bytes (CVE-2026-25934)", packed(".pack", func(c []byte) []byte {
			for i := 12; i < len(c)-20; i++ {
				c[i] ^= 0x15
			}
			return c
		}), "objects/pack/pack-"},
		{"a pack of very many objects (CVE-2023-49568)", packed(".pack", func(c []byte) []byte { copy(c[8:], "\xff\xff\xff\xff"); return c }), "it has 4294967295 objects"},
		{"an index of very many objects (GHSA-jhf3-xxhw-2wpp)", packed(".idx", func(c []byte) []byte { copy(c[8+255*4:], "\xff\xff\xff\xff"); return c }), "the pack is broken"},
		{"an index in which nothing is where it is", packed(".idx", func(c []byte) []byte {
			for i := 8 + 256*4; i < len(c)-40; i++ {
				c[i] = 0x44
			}
			return c
		}), "no such tag, branch or commit|object not found"},
		{"an index of places behind the end", packed(".idx", func(c []byte) []byte {
			count := int(c[8+255*4+3])
			copy(c[8+256*4+24*count:], bytes.Repeat([]byte{0x7f}, 4*count))
			return c
		}), "the pack is broken"},
		{"an index of another pack", packed(".idx", func(c []byte) []byte { c[len(c)-30] ^= 1; return c }), "its index belongs to another pack"},
		{"no pack for an index", packed(".pack", func([]byte) []byte { return nil }), "object not found|no such tag"},
		{"a pipe for a pack", func(g *gitRepository) {
			packed(".pack", func([]byte) []byte { return nil })(g)
			found, _ := filepath.Glob(inGit(g, "objects/pack/*.idx"))
			require.NoError(g.t, syscall.Mkfifo(strings.TrimSuffix(found[0], ".idx")+".pack", 0o600))
		}, "it isn't a file"},
		{"a pack elsewhere (CVE-2026-71556)", func(g *gitRepository) {
			elsewhere := filepath.Join(g.t.TempDir(), "pack")
			g.git("gc", "-q")
			require.NoError(g.t, os.Rename(inGit(g, "objects/pack"), elsewhere))
			require.NoError(g.t, os.Symlink(elsewhere, inGit(g, "objects/pack")))
		}, "escapes"},
		{"a pipe for an object", func(g *gitRepository) {
			id := g.git("rev-parse", "1.0.0")
			pipe("objects/" + id[:2] + "/" + id[2:])(g)
		}, "it isn't a file"},
		{"an object that grows (GHSA-w5pp-99ch-qj29)", loose("commit 2000000000\x00", make([]byte, maxMetadata+1)), "too long"},
		{"a file that grows (CVE-2025-21614)", loose("blob 10000000\x00", make([]byte, 10_000_000)), "longer than 1048576 bytes"},
		{"a file that grows in a pack", large(8<<20, 8<<20), "longer than 1048576 bytes"},
		{"a file that grows by a difference", large(3<<20, 3<<20+1), "longer than 1048576 bytes"},
		{"a file that says that it is short", loose("blob 3\x00", make([]byte, 100_000)), "doesn't match its name"},
		{"an object without a length", loose("commit \x00", nil), "doesn't begin with the header of an object"},
		{"an object of a length below nothing", loose("commit -5\x00", nil), "doesn't begin with the header of an object"},
		{"an object of a length that there can't be", loose("commit 99999999999999999999\x00", nil), "doesn't begin with the header of an object"},
		{"an object without an end of its beginning", loose("commit "+strings.Repeat("0", 100), nil), "doesn't begin with the header of an object"},
		{"an object of a kind that there isn't", loose("ofs-delta 3\x00", []byte("abc")), "doesn't begin with the header of an object"},
		{"objects that somebody else has", write("objects/info/alternates", "/etc\n"), "names another repository"},
		{"objects that somebody else has, by a link", link("objects/info/alternates", "/etc/hostname"), "escapes"},
		{"a pipe for a reference", pipe("refs/tags/1.0.0"), "it isn't a file"},
		{"a reference elsewhere (CVE-2023-49569)", link("refs/tags/1.0.0", "/etc/hostname"), "escapes"},
		{"references elsewhere", link("refs/tags", "/etc"), "escapes"},
		{"a reference that is none", write("refs/tags/1.0.0", "root:x:0:0\n"), "neither the id of an object"},
		{"a reference to itself", write("refs/tags/1.0.0", "ref: refs/tags/1.0.0\n"), "5 symbolic references follow each other"},
		{"a reference to a file", write("refs/tags/1.0.0", "ref: ../../../../etc/passwd\n"), "can't be a reference"},
		{"a pipe for packed-refs", func(g *gitRepository) { g.git("pack-refs", "--all"); pipe("packed-refs")(g) }, "it isn't a file"},
		{"packed-refs elsewhere", func(g *gitRepository) { g.git("pack-refs", "--all"); link("packed-refs", "/etc/passwd")(g) }, "escapes"},
		{"a pipe for the configuration", pipe("config"), "it isn't a file"},
		{"a configuration that is none", write("config", "[core\n\x00"), "its configuration can't be read"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			g, _, _ := released(t)
			row.make(g)
			base := t.TempDir()
			path := filepath.Join(base, "one")
			done := make(chan error, 1)
			go func() {
				r, err := Open(g.dir)
				if err == nil {
					_, _ = r.Refs(t.Context())
					_, err = r.Checkout(t.Context(), "1.0.0", path, Worktree, Within(Limits{Files: 1000, Bytes: 1 << 20}))
					_ = r.Close()
				}
				done <- err
			}()
			select {
			case err := <-done:
				require.Error(t, err)
				found := false
				for want := range strings.SplitSeq(row.want, "|") {
					found = found || strings.Contains(err.Error(), want)
				}
				assert.True(t, found, "%v", err)
			case <-time.After(time.Minute):
				t.Fatal("it waits")
			}
			assert.NoDirExists(t, path)
			entries, err := os.ReadDir(base)
			require.NoError(t, err)
			for _, e := range entries {
				assert.Equal(t, ".one.lock", e.Name(), "nothing is left")
			}
			_, err = Setup(t.Context(), SetupOptions{Source: g.dir, Destination: path, Tags: []string{"1.0.0"}})
			if strings.HasPrefix(row.reason, "a file that grows") {
				return // it is no harm to who has no limit but the disk's
			}
			require.Error(t, err)
			assert.NoDirExists(t, path)
		})
	}
}

// TestHarmless has things be there that git uses, and that nothing here reads.
func TestHarmless(t *testing.T) {
	t.Parallel()
	g, first, _ := released(t)
	for name, text := range map[string]string{
		"index":                         "DIRC\x00\x00\x00\x04\xff\xff\xff\xff", // CVE-2026-33762
		"hooks/post-checkout":           "#!/bin/sh\ntouch /tmp/operkit-was-here\n",
		"info/attributes":               "* filter=evil\n",
		"modules/a/config":              "[core]\n\tfsmonitor = touch /tmp/operkit-was-here\n",
		"refs/tags/1.0.0.lock":          "half",
		"objects/pack/tmp_pack_abc":     "half",
		"objects/pack/multi-pack-index": "MIDX",
		"objects/info/commit-graph":     "CGPH",
		"worktrees/x/gitdir":            "/etc\n",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(g.dir, ".git", name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(g.dir, ".git", name), []byte(text), 0o755))
	}
	file, err := os.OpenFile(filepath.Join(g.dir, ".git", "config"), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = file.WriteString("[include]\n\tpath = /dev/zero\n[core]\n\tfsmonitor = touch /tmp/operkit-was-here\n\thooksPath = hooks\n[filter \"evil\"]\n\tsmudge = touch /tmp/operkit-was-here\n")
	require.NoError(t, err)
	require.NoError(t, file.Close())
	path := filepath.Join(t.TempDir(), "one")
	got, err := g.open().Checkout(t.Context(), "1.0.0", path, Worktree)
	require.NoError(t, err)
	assert.Equal(t, first, got.Commit)
	assert.NoFileExists(t, "/tmp/operkit-was-here", "nothing of it is run")
}

func TestHostileGitFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	require.NoError(t, syscall.Mkfifo(filepath.Join(folder, ".git"), 0o600))
	_, err := Open(folder)
	require.ErrorContains(t, err, "it isn't a file")
	endless := t.TempDir()
	require.NoError(t, os.Symlink("/dev/zero", filepath.Join(endless, ".git")))
	_, err = Open(endless)
	require.ErrorContains(t, err, "it isn't a file")
}
