package vcs

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSetupWarns(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	pointer := "version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 5\n"
	g.write("art/picture.png", pointer, 0o644)
	g.write("plain.txt", "version https is no pointer\n", 0o644)
	g.commit("zero")
	g.git("tag", "0.9.0")
	g.write("art/.gitattributes", "*.png filter=lfs diff=lfs merge=lfs -text\n", 0o644)
	g.commit("one")
	g.git("tag", "1.0.0")
	g.git("update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",lib/theirs")
	g.git("commit", "-q", "-m", "two")
	g.git("tag", "1.1.0")
	g.git("tag", "1.2.0")
	result, report := g.setup(SetupOptions{Tags: []string{"1.*"}, Verify: true})
	assert.Equal(t, []string{
		"art/picture.png: its content is kept by Git LFS elsewhere (in 1.0.0 and 2 more)",
		"lib/theirs: it is a submodule, whose content is in another repository (in 1.1.0 and 1 more)",
	}, report.Warnings, "vcs W19")
	assert.Equal(t, g.git("ls-tree", "-r", "1.2.0"), result.git("ls-tree", "-r", "1.2.0"), "they are kept as they are")
	_, report = g.setup(SetupOptions{Tags: []string{"1.0.0"}})
	assert.Equal(t, []string{"art/picture.png: its content is kept by Git LFS elsewhere (in 1.0.0)"}, report.Warnings)
	_, report = g.setup(SetupOptions{Tags: []string{"0.9.0"}})
	assert.Empty(t, report.Warnings, "what isn't said to be Git LFS's is a file like others")
}

// A version that can't be read is never left out in silence.
func TestSetupOfABrokenVersion(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		spoil  func(g *gitRepository)
		want   string
	}{
		{"a commit that is missing", func(g *gitRepository) { g.ref("5.0.0", strings.Repeat("5", 40)) }, "refs/tags/5.0.0: object 5555555555555555555555555555555555555555: object not found"},
		{"a tag without an end", func(g *gitRepository) {
			id := g.git("rev-parse", "1.1.0")
			for range 20 {
				id = g.put("tag", []byte("object "+id+"\ntype tag\ntag x\n\nx\n"))
			}
			g.ref("5.0.0", id)
		}, "refs/tags/5.0.0: more than 16 tags follow each other"},
		{"a tree that is missing", func(g *gitRepository) {
			g.ref("5.0.0", g.put("commit", []byte("tree "+strings.Repeat("5", 40)+"\n"+committer+"\nx\n")))
		}, "refs/tags/5.0.0: tree 5555555555555555555555555555555555555555: object not found"},
		{"a name that leads out", func(g *gitRepository) {
			g.ref("5.0.0", g.put("commit", []byte("tree "+g.putTree(item{"100644", "..", g.put("blob", nil)})+"\n"+committer+"\nx\n")))
		}, `entry "..": it isn't a name`},
		{"a tree that stands where a file should", func(g *gitRepository) {
			tree := g.putTree(item{"100644", "inner", g.put("blob", []byte("inner"))})
			g.ref("5.0.0", g.put("commit", []byte("tree "+g.putTree(item{"100644", "a", tree}, item{"40000", "b", tree})+"\n"+committer+"\nx\n")))
		}, "it is a tree"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			g := shipped(t)
			row.spoil(g)
			path := filepath.Join(t.TempDir(), "versions")
			_, err := Setup(t.Context(), SetupOptions{Source: g.dir, Destination: path, Verify: true})
			var failed *RuntimeError
			require.True(t, errors.As(err, &failed), "%v", err)
			assert.ErrorContains(t, err, row.want)
			assert.NoDirExists(t, path)
		})
	}
}
