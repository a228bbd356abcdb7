package vcs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParsePackedRefs(t *testing.T) {
	t.Parallel()
	one, two := strings.Repeat("1", 40), strings.Repeat("2", 40)
	all, err := parsePackedRefs("# pack-refs with: peeled fully-peeled sorted \n"+one+" refs/heads/main\n"+two+" refs/tags/1.0.0\n^"+one+"\n", nil)
	require.NoError(t, err)
	assert.Equal(t, []reference{
		{name: "refs/heads/main", hash: plumbing.NewHash(one)}, {name: "refs/tags/1.0.0", hash: plumbing.NewHash(two), peeled: plumbing.NewHash(one)},
	}, all)
	for reason, text := range map[string]string{
		"no id": "main refs/heads/main\n", "a short id": one[1:] + " refs/heads/main\n", "a long id": one + "1 refs/heads/main\n", "other letters": strings.Repeat("x", 40) + " refs/heads/main\n",
		"no name": one + "\n", "a tag before all": "^" + one + "\n", "a tag with a name": one + " refs/tags/x\n^" + one + " refs/tags/y\n",
	} {
		_, err := parsePackedRefs(text, nil)
		require.ErrorContains(t, err, "isn't a reference", reason)
	}
	_, err = parsePackedRefs("^"+one+"\n", []reference{{name: "refs/heads/loose"}})
	require.Error(t, err, "what was there before isn't its")
}

func TestPackedRefs(t *testing.T) {
	t.Parallel()
	g, first, second := released(t)
	g.git("pack-refs", "--all")
	path := filepath.Join(g.dir, ".git", "packed-refs")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(text), "^"+string(second))
	find := func(name string) Commit {
		refs, err := g.open().Refs(t.Context())
		require.NoError(t, err)
		for _, ref := range refs {
			if ref.Full == name {
				return ref.Commit
			}
		}
		return ""
	}
	assert.Equal(t, second, find("refs/tags/1.1.0"))
	lie := strings.ReplaceAll(string(text), "^"+string(second), "^"+g.git("rev-parse", "1.1.0:README.md"))
	require.NoError(t, os.WriteFile(path, []byte(lie), 0o600))
	assert.Equal(t, second, find("refs/tags/1.1.0"), "what isn't a commit isn't taken for one")
	g.git("update-ref", "refs/tags/1.1.0", string(first))
	assert.Equal(t, first, find("refs/tags/1.1.0"), "a file of its own is newer")
	got, err := g.open().Resolve(t.Context(), "1.1.0")
	require.NoError(t, err)
	assert.Equal(t, first, got)
}

// TestFoldersOfReferencesThatGo has git pack what is in a folder, and remove that, after it was listed.
func TestFoldersOfReferencesThatGo(t *testing.T) {
	t.Parallel()
	g, _, _ := released(t)
	r := g.open()
	all, err := r.looseRefs("refs/heads/gone")
	require.NoError(t, err)
	assert.Empty(t, all)
	require.NoError(t, os.RemoveAll(filepath.Join(g.dir, ".git", "refs")))
	_, err = r.Refs(t.Context())
	assert.Error(t, err, "a repository without any such folder is none")
}

func FuzzPackedRefs(f *testing.F) {
	f.Add("# pack-refs with: peeled \n" + strings.Repeat("1", 40) + " refs/heads/main\n^" + strings.Repeat("2", 40) + "\n")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := parsePackedRefs(text, nil)
		if err != nil {
			return
		}
		for _, one := range all {
			assert.NotEmpty(t, one.name)
			assert.NotContains(t, one.name, "\n")
			assert.Contains(t, text, " "+one.name)
		}
	})
}
