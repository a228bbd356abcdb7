package manifest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestDirectory(t *testing.T) {
	t.Parallel()
	t.Run("reconcile 17: the path has the kind, the namespace, the name and the component", func(t *testing.T) {
		t.Parallel()
		dir := filepath.Join(t.TempDir(), "made", "for this")
		d := open(t, dir)
		written, err := d.Write(shop("market", "tea"), []Component{component(t, "store", "a", "b"), component(t, "door", "c"), component(t, "void")})
		require.NoError(t, err)
		want := []string{"example.dev.v1.shop/market/tea/store/tea-store.k8s.yaml", "example.dev.v1.shop/market/tea/door/tea-door.k8s.yaml"}
		assert.Equal(t, []string{filepath.Join(dir, want[0]), filepath.Join(dir, want[1])}, written, "in the order of the components")
		assert.ElementsMatch(t, want, files(t, dir))
		assert.Equal(t, "---\n# store: ConfigMap/a\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n---\n# store: ConfigMap/b\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: b\n", content(t, written[0]))
	})
	t.Run("reconcile 17: resources of one name in two namespaces, of two kinds, and of the cluster", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		d := open(t, dir)
		for i, ref := range []deploy.Ref{
			shop("market", "tea"), shop("harbour", "tea"), {Kind: schema.GroupVersionKind{Version: "v1", Kind: "Shop"}, Namespace: "market", Name: "tea"},
			{Kind: schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Town"}, Name: "tea"},
		} {
			_, err := d.Write(ref, []Component{component(t, "store", fmt.Sprint("of-", i))})
			require.NoError(t, err)
		}
		assert.ElementsMatch(t, []string{
			"example.dev.v1.shop/market/tea/store/tea-store.k8s.yaml", "example.dev.v1.shop/harbour/tea/store/tea-store.k8s.yaml",
			"v1.shop/market/tea/store/tea-store.k8s.yaml", "example.dev.v1.town/tea/store/tea-store.k8s.yaml",
		}, files(t, dir))
	})
	t.Run("reconcile 17: disabled components only when asked", func(t *testing.T) {
		t.Parallel()
		attic := component(t, "attic", "a")
		attic.Disabled = true
		dir := t.TempDir()
		d, all := open(t, dir), open(t, dir, Disabled())
		written, err := all.Write(shop("market", "tea"), []Component{attic})
		require.NoError(t, err)
		assert.Equal(t, []string{"example.dev.v1.shop/market/tea/DISABLED/attic/tea-attic.k8s.yaml"}, files(t, dir))
		assert.Contains(t, content(t, written[0]), "# attic (disabled): ConfigMap/a\n")
		written, err = d.Write(shop("market", "tea"), []Component{attic})
		require.NoError(t, err)
		assert.Empty(t, written)
		assert.Empty(t, files(t, dir))
	})
	t.Run("reconcile 17: Secrets are masked unless asked", func(t *testing.T) {
		t.Parallel()
		for shown, options := range map[bool][]Option{false: nil, true: {ShowSecrets()}} {
			d := open(t, t.TempDir(), options...)
			written, err := d.Write(shop("market", "tea"), []Component{{Name: "store", Objects: append(component(t, "", "a").Objects, secret(t))}})
			require.NoError(t, err)
			text := content(t, written[0])
			assert.Equal(t, shown, strings.Contains(text, "hunter2"))
			assert.Equal(t, shown, strings.Contains(text, "aHVudGVyMg=="))
			assert.Equal(t, !shown, strings.Contains(text, "# store: Secret/key (values masked)\n"))
			assert.Contains(t, text, "# store: ConfigMap/a\n")
		}
	})
	t.Run("reconcile 17: only the owner may read", func(t *testing.T) {
		t.Parallel()
		dir := filepath.Join(t.TempDir(), "new")
		written, err := open(t, dir).Write(shop("market", "tea"), []Component{component(t, "store", "a")})
		require.NoError(t, err)
		for name := written[0]; ; name = filepath.Dir(name) {
			info, err := os.Stat(name)
			require.NoError(t, err)
			assert.Zero(t, info.Mode().Perm()&0o077, name)
			if name == dir {
				return
			}
		}
	})
}

func TestDirectoryReplaces(t *testing.T) {
	t.Parallel()
	t.Run("files of components that are no more are removed, others stay", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		d := open(t, dir, Disabled())
		tea := shop("market", "tea")
		gone := component(t, "gone", "a")
		gone.Disabled = true
		_, err := d.Write(tea, []Component{component(t, "store", "a"), component(t, "old", "a"), gone})
		require.NoError(t, err)
		_, err = d.Write(shop("market", "tea2"), []Component{component(t, "store", "a")})
		require.NoError(t, err)
		here := filepath.Join(dir, "example.dev.v1.shop", "market", "tea")
		require.NoError(t, os.WriteFile(filepath.Join(here, "old", "notes.txt"), nil, 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(here, "store", ".X.k8s.yaml.tmp"), nil, 0o600), "left by a process that was killed")
		_, err = d.Write(tea, []Component{component(t, "store", "a")})
		require.NoError(t, err)
		assert.Equal(t, []string{"old/notes.txt", "store/tea-store.k8s.yaml"}, files(t, here))
		assert.NoDirExists(t, filepath.Join(here, "DISABLED"))
		require.NoError(t, d.Remove(tea))
		assert.Equal(t, []string{"old/notes.txt"}, files(t, here))
		require.NoError(t, d.Remove(shop("nowhere", "x")), "there is nothing")
		require.NoError(t, d.Remove(shop("market", "tea2")))
		assert.NoDirExists(t, filepath.Join(dir, "example.dev.v1.shop", "market", "tea2"))
	})
	t.Run("a file of the same content is left alone, another one replaced as a whole", func(t *testing.T) {
		t.Parallel()
		d := open(t, t.TempDir())
		write := func(name string) (string, os.FileInfo) {
			written, err := d.Write(shop("market", "tea"), []Component{component(t, "store", name)})
			require.NoError(t, err)
			info, err := os.Stat(written[0])
			require.NoError(t, err)
			return written[0], info
		}
		file, first := write("a")
		past := time.Now().Add(-time.Hour).Truncate(time.Second)
		require.NoError(t, os.Chtimes(file, past, past))
		_, second := write("a")
		assert.True(t, os.SameFile(first, second))
		assert.True(t, second.ModTime().Equal(past))
		_, third := write("b")
		assert.False(t, os.SameFile(first, third), "renamed, not overwritten")
		require.NoError(t, os.Chmod(file, 0o644))
		_, fourth := write("b")
		assert.Equal(t, fileMode, fourth.Mode())
		assert.Len(t, files(t, filepath.Dir(file)), 1, "and no temporary one is left")
	})
	t.Run("what can't be written keeps nothing else back, and removes nothing", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		d := open(t, dir)
		tea := shop("market", "tea")
		_, err := d.Write(tea, []Component{component(t, "old", "a")})
		require.NoError(t, err)
		// A folder where the file should be.
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "example.dev.v1.shop/market/tea/store/tea-store.k8s.yaml/x"), 0o700))
		written, err := d.Write(tea, []Component{component(t, "store", "a"), component(t, "door", "a")})
		require.ErrorContains(t, err, "manifests: Shop market/tea: component store: rename")
		assert.Len(t, written, 1)
		assert.Equal(t, []string{"example.dev.v1.shop/market/tea/door/tea-door.k8s.yaml", "example.dev.v1.shop/market/tea/old/tea-old.k8s.yaml"}, files(t, dir))
		bad := component(t, "bad", "a")
		bad.Objects[0].Object["spec"] = func() {}
		_, err = d.Write(tea, []Component{bad})
		require.ErrorContains(t, err, "component bad: ConfigMap a: ")
	})
}

// No name leads out of the directory, or into the place of another one.
func TestDirectoryNames(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	dir := filepath.Join(base, "in")
	d := open(t, dir)
	names := []string{
		"a", "A/b", "../a", "../../../a", "..", ".", "", "/etc", "a\\b", "a:b", "a%2Fb", "a/b", "DISABLED", "disabled", "a\nb", "a b", "ä", "\x00", ".k8s.yaml",
		strings.Repeat("x", 300), strings.Repeat("x", 299) + "y", strings.Repeat("é", 200), "%", "CON", "-rf",
	}
	seen := map[string]string{}
	for _, name := range names {
		for _, ref := range []deploy.Ref{shop("market", name), shop(name, "tea"), {Kind: schema.GroupVersionKind{Group: name, Version: "v1", Kind: "Shop"}, Namespace: "market", Name: "tea"}} {
			written, err := d.Write(ref, []Component{component(t, "store", "a")})
			require.NoError(t, err, "%q", name)
			require.Len(t, written, 1)
		}
		written, err := d.Write(shop("market", "tea"), []Component{component(t, name, "a")})
		require.NoError(t, err, "%q", name)
		require.Len(t, written, 1)
		assert.Empty(t, seen[written[0]], "%q", name)
		seen[written[0]] = name
	}
	entries, err := os.ReadDir(base)
	require.NoError(t, err)
	assert.Len(t, entries, 1)
	for _, file := range files(t, dir) {
		assert.NotContains(t, strings.Split(file, "/"), "..")
	}
}

// A link that leads out isn't followed.
func TestDirectoryLinks(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	outside := filepath.Join(base, "outside")
	require.NoError(t, os.MkdirAll(filepath.Join(outside, "tea", "store"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(outside, "tea", "store", "tea-old.k8s.yaml"), nil, 0o600))
	dir := filepath.Join(base, "in")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "example.dev.v1.shop"), 0o700))
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "example.dev.v1.shop", "market")))
	d := open(t, dir)
	_, err := d.Write(shop("market", "tea"), []Component{component(t, "store", "a")})
	require.ErrorContains(t, err, "manifests: Shop market/tea: component store: ")
	require.Error(t, d.Remove(shop("market", "tea")))
	assert.Equal(t, []string{"tea/store/tea-old.k8s.yaml"}, files(t, outside))
}

func TestOpenMistakes(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := Open(file)
	require.ErrorContains(t, err, "manifests: mkdir ")
	_, err = Open("")
	require.ErrorContains(t, err, "manifests: ")
	d, err := Open(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, d.Close())
	_, err = d.Write(shop("market", "tea"), []Component{component(t, "store", "a")})
	require.ErrorContains(t, err, "closed")
}

func TestConcurrentWrites(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := open(t, dir)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 10 {
				_, err := d.Write(shop("market", fmt.Sprint("tea", i%2)), []Component{component(t, fmt.Sprint("store", j%3), fmt.Sprint(i))})
				assert.NoError(t, err)
			}
		})
	}
	all.Wait()
	for _, name := range []string{"tea0", "tea1"} {
		found := files(t, filepath.Join(dir, "example.dev.v1.shop", "market", name))
		require.Len(t, found, 1, "the last rendering, and nothing else")
	}
}
