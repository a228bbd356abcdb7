package vcs

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// put stores an object as it is, whatever git would say of it, and returns its id.
func (g *gitRepository) put(kind string, content []byte) string {
	g.t.Helper()
	sum := sha1.Sum(append(fmt.Appendf(nil, "%s %d\x00", kind, len(content)), content...))
	id := hex.EncodeToString(sum[:])
	g.putRaw(id, g.loose(kind, content))
	return id
}

// loose is an object as its file has it.
func (g *gitRepository) loose(kind string, content []byte) []byte {
	g.t.Helper()
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	_, err := w.Write(append(fmt.Appendf(nil, "%s %d\x00", kind, len(content)), content...))
	require.NoError(g.t, errors.Join(err, w.Close()))
	return packed.Bytes()
}

func (g *gitRepository) putRaw(id string, content []byte) {
	g.t.Helper()
	path := filepath.Join(g.dir, ".git", "objects", id[:2], id[2:])
	require.NoError(g.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(g.t, os.WriteFile(path, content, 0o644))
}

// item is an entry of a tree that is put.
type item struct{ mode, name, id string }

func (g *gitRepository) putTree(items ...item) string {
	g.t.Helper()
	var content bytes.Buffer
	for _, one := range items {
		raw, err := hex.DecodeString(one.id)
		require.NoError(g.t, err)
		content.WriteString(one.mode + " " + one.name + "\x00")
		content.Write(raw)
	}
	return g.put("tree", content.Bytes())
}

const committer = "author A <a@x> 1700000000 +0000\ncommitter C <c@x> 1700000000 +0000\n"

// tag makes a commit of a tree and a tag "bad" of it.
func (g *gitRepository) tag(tree string) {
	g.t.Helper()
	g.ref("bad", g.put("commit", []byte("tree "+tree+"\n"+committer+"\nbad\n")))
}

func (g *gitRepository) ref(name, id string) {
	g.t.Helper()
	require.NoError(g.t, os.WriteFile(filepath.Join(g.dir, ".git", "refs", "tags", name), []byte(id+"\n"), 0o644))
}

func TestHostile(t *testing.T) {
	t.Parallel()
	file := func(g *gitRepository) string { return g.put("blob", []byte("mine\n")) }
	named := func(name string) func(g *gitRepository) {
		return func(g *gitRepository) { g.tag(g.putTree(item{"100644", name, file(g)})) }
	}
	folder := func(name string) func(g *gitRepository) {
		return func(g *gitRepository) {
			g.tag(g.putTree(item{"40000", name, g.putTree(item{"100644", "config", file(g)})}))
		}
	}
	link := func(name, target string) func(g *gitRepository) {
		return func(g *gitRepository) { g.tag(g.putTree(item{"120000", name, g.put("blob", []byte(target))})) }
	}
	for _, row := range []struct {
		reason string
		make   func(g *gitRepository)
		want   string
	}{
		{"a parent", named(".."), "it isn't a name"}, {"itself", named("."), "it isn't a name"}, {"no name", named(""), "it isn't a name"},
		{"a path", named("../../escape"), "it is a path"}, {"an absolute path", named("/tmp/escape"), "it is a path"},
		{"git's folder", folder(".git"), "it means git's own folder"}, {"in capitals", folder(".GIT"), "it means git's own folder"}, {"a bit of both", folder(".gIt"), "it means git's own folder"},
		{"with a dot at the end", folder(".git."), "it means git's own folder"}, {"with a space at the end", folder(".git "), "it means git's own folder"},
		{"its short name", folder("git~1"), "it means git's own folder"}, {"a stream of it", named(".git::$INDEX_ALLOCATION"), "it means git's own folder"},
		{"with a letter that nobody sees", folder(".g\u200cit"), "it means git's own folder"}, {"behind a backslash", named(`a\.git\hooks`), "it means git's own folder"},
		{"a parent with a letter that nobody sees", folder(".\u200c."), "it means the parent folder"}, {"a parent with a space at the end", folder(".. "), "it means the parent folder"},
		{"a stream of a parent", folder("..::$INDEX_ALLOCATION"), "it means the parent folder"}, {"a parent behind a backslash", named(`a\..\..\b`), "it means the parent folder"},
		{"the mark of a checkout", named(markerName), "checkouts use that name"}, {"a name that is too long", named(strings.Repeat("x", 256)), "it is too long"},
		{"two of one name", func(g *gitRepository) {
			g.tag(g.putTree(item{"120000", "a", g.put("blob", []byte("/tmp"))}, item{"40000", "a", g.putTree(item{"100644", "escape", file(g)})}))
		}, "there are two with that name"},
		{"a link to an absolute path", link("a", "/etc/passwd"), "leads out of the tree"}, {"a link to above", link("a", "../outside"), "leads out of the tree"},
		{"a link with a nul", link("a", "b\x00c"), "a link without a target"}, {"an empty link", link("a", ""), "a link without a target"},
		{"a link that is too long", link("a", strings.Repeat("x", 5000)), "too long"},
		{"links that lead out together", func(g *gitRepository) {
			up := g.putTree(item{"120000", "up", g.put("blob", []byte(".."))})
			g.tag(g.putTree(item{"120000", "out", g.put("blob", []byte("sub/up/../outside"))}, item{"40000", "sub", up}))
		}, "leads out of the tree"},
		{"a mode that there isn't", func(g *gitRepository) { g.tag(g.putTree(item{"107777", "a", file(g)})) }, "is unknown"},
		{"a mode with a zero before it", func(g *gitRepository) { g.tag(g.putTree(item{"0100644", "a", file(g)})) }, "is unknown"},
		{"a submodule", func(g *gitRepository) { g.tag(g.putTree(item{"160000", "a", strings.Repeat("1", 40)})) }, "it is a submodule"},
		{"a tree in itself, deeper and deeper", func(g *gitRepository) {
			tree := g.putTree(item{"100644", "a", file(g)})
			for range 300 {
				tree = g.putTree(item{"40000", "d", tree})
			}
			g.tag(tree)
		}, "more than 256 deep"},
		{"a tree that grows", func(g *gitRepository) {
			tree := g.putTree(item{"100644", "a", file(g)})
			for range 12 {
				var items []item
				for i := range 10 {
					items = append(items, item{"40000", fmt.Sprint("d", i), tree})
				}
				tree = g.putTree(items...)
			}
			g.tag(tree)
		}, "more than 1000 files"},
		{"a file that grows", func(g *gitRepository) {
			g.tag(g.putTree(item{"100644", "a", g.put("blob", make([]byte, 2<<20))}))
		}, "longer than 1048576 bytes"},
		{"a file that is missing", func(g *gitRepository) { g.tag(g.putTree(item{"100644", "a", strings.Repeat("2", 40)})) }, "object not found"},
		{"a tree that is missing", func(g *gitRepository) { g.tag(strings.Repeat("2", 40)) }, "object not found"},
		{"a tree that is a file", func(g *gitRepository) { g.tag(file(g)) }, "tree"},
		{"a file that is a tree", func(g *gitRepository) { g.tag(g.putTree(item{"100644", "a", g.putTree()})) }, "a"},
		{"a tree that is cut off", func(g *gitRepository) { g.tag(g.put("tree", []byte("100644 a\x00abc"))) }, "it is broken"},
		{"a tree of nonsense", func(g *gitRepository) { g.tag(g.put("tree", []byte("nonsense"))) }, "it is broken"},
		{"a commit without a tree", func(g *gitRepository) { g.ref("bad", g.put("commit", []byte(committer+"\nbad\n"))) }, "it names no tree"},
		{"a commit of two trees, of which git reads none", func(g *gitRepository) {
			g.ref("bad", g.put("commit", []byte("encoding x\ntree "+g.putTree()+"\ntree "+g.putTree(item{"100644", "a", file(g)})+"\n"+committer+"\nbad\n")))
		}, "it names no tree"},
		{"a commit whose tree is an abbreviation", func(g *gitRepository) {
			g.ref("bad", g.put("commit", []byte("tree 4b825dc\n"+committer+"\nbad\n")))
		}, "it names no tree"},
		{"a commit that is empty", func(g *gitRepository) { g.ref("bad", g.put("commit", nil)) }, "it names no tree"},
		{"a tag that names nothing", func(g *gitRepository) { g.ref("bad", g.put("tag", []byte("type commit\ntag x\n\nx\n"))) }, "it names no object"},
		{"a tag of itself", func(g *gitRepository) {
			g.putRaw(strings.Repeat("5", 40), g.loose("tag", []byte("object "+strings.Repeat("5", 40)+"\ntype tag\n")))
			g.ref("bad", strings.Repeat("5", 40))
		}, "doesn't match its name"},
		{"a tree in itself", func(g *gitRepository) {
			id := strings.Repeat("6", 40)
			g.putRaw(id, g.loose("tree", append([]byte("40000 a\x00"), bytes.Repeat([]byte{0x66}, 20)...)))
			g.tag(id)
		}, "doesn't match its name"},
		{"an object of another name", func(g *gitRepository) {
			id := strings.Repeat("7", 40)
			g.putRaw(id, g.loose("blob", []byte("mine\n")))
			g.tag(g.putTree(item{"100644", "a", id}))
		}, "doesn't match its name"},
		{"a commit of nobody", func(g *gitRepository) { g.ref("bad", g.put("commit", []byte("tree "+g.putTree()+"\n\nbad\n"))) }, "has no time"},
		{"a tag of a tag of itself", func(g *gitRepository) {
			id := g.git("rev-parse", "1.0.0")
			for range 20 {
				id = g.put("tag", []byte("object "+id+"\ntype tag\ntag x\n\nx\n"))
			}
			g.ref("bad", id)
		}, "16 tags follow each other"},
		{"an object that is broken", func(g *gitRepository) {
			id := strings.Repeat("3", 40)
			g.putRaw(id, []byte("this is not compressed"))
			g.ref("bad", id)
		}, "object"},
		{"an object with a wrong length", func(g *gitRepository) {
			var packed bytes.Buffer
			w := zlib.NewWriter(&packed)
			_, _ = w.Write([]byte("blob 99999\x00short"))
			_ = w.Close()
			id := strings.Repeat("4", 40)
			g.putRaw(id, packed.Bytes())
			g.tag(g.putTree(item{"100644", "a", id}))
		}, "a"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			g, _, _ := released(t)
			row.make(g)
			base := t.TempDir()
			inner := filepath.Join(base, "inner")
			path := filepath.Join(inner, "one")
			_, err := g.open().Checkout(t.Context(), "bad", path, Worktree, Within(Limits{Files: 1000, Bytes: 1 << 20}))
			require.Error(t, err)
			assert.ErrorContains(t, err, row.want)
			assert.NoDirExists(t, path, "the destination is unharmed")
			entries, err := os.ReadDir(base)
			require.NoError(t, err)
			for _, e := range entries {
				assert.Equal(t, "inner", e.Name(), "nothing is written elsewhere")
			}
			if entries, err := os.ReadDir(inner); err == nil {
				for _, e := range entries {
					assert.Equal(t, ".one.lock", e.Name(), "nothing is left")
				}
			}
		})
	}
}

func TestAllowed(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	g.write("a", "x", 0o644)
	g.commit("one")
	outside := g.put("blob", []byte("../outside"))
	pointer := g.put("blob", []byte("version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 5\n"))
	g.tag(g.putTree(item{"120000", "link", outside}, item{"160000", "module", strings.Repeat("1", 40)}, item{"100644", "picture.png", pointer}))
	path := filepath.Join(t.TempDir(), "one")
	got, err := g.open().Checkout(t.Context(), "bad", path, Worktree, OutsideLinks(), WithoutSubmodules())
	require.NoError(t, err)
	assert.Equal(t, []string{"picture.png: its content is kept by Git LFS elsewhere"}, got.Warnings)
	target, err := os.Readlink(filepath.Join(path, "link"))
	require.NoError(t, err)
	assert.Equal(t, "../outside", target)
	assert.DirExists(t, filepath.Join(path, "module"))
}

func FuzzTree(f *testing.F) {
	f.Add([]byte("100644 a\x00aaaaaaaaaaaaaaaaaaaa"))
	f.Add([]byte("40000 .git\x00aaaaaaaaaaaaaaaaaaaa120000 ..\x00aaaaaaaaaaaaaaaaaaaa"))
	f.Fuzz(func(t *testing.T, text []byte) {
		entries, err := parseTree(text)
		if err != nil {
			return
		}
		for _, e := range entries {
			assert.True(t, filepath.IsLocal(e.name), "%q", e.name)
			assert.NotContains(t, e.name, "/")
			assert.False(t, strings.EqualFold(e.name, ".git"))
			assert.NotContains(t, e.name, "\x00")
		}
	})
}
