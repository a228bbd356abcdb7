package vcs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRefs(t *testing.T) {
	t.Parallel()
	g, first, second := released(t)
	g.git("update-ref", "refs/remotes/origin/main", string(first))
	g.git("update-ref", "refs/notes/x", string(first))
	g.git("tag", "tree", "HEAD^{tree}")
	g.git("symbolic-ref", "refs/heads/link", "refs/heads/main")
	want := []Ref{
		{Branch, "feature/x", "refs/heads/feature/x", first}, {Branch, "main", "refs/heads/main", second},
		{Other, "refs/notes/x", "refs/notes/x", first}, {Remote, "origin/main", "refs/remotes/origin/main", first},
		{Tag, "1.0.0", "refs/tags/1.0.0", first}, {Tag, "1.1.0", "refs/tags/1.1.0", second}, {Tag, "tree", "refs/tags/tree", ""},
	}
	for _, packed := range []bool{false, true} {
		if packed {
			g.git("pack-refs", "--all")
		}
		t.Run(fmt.Sprintf("vcs 15: HEAD and other symbolic references aren't listed; packed %v", packed), func(t *testing.T) {
			refs, err := g.open().Refs(t.Context())
			require.NoError(t, err)
			assert.Equal(t, want, refs)
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := g.open().Refs(ctx)
	require.ErrorIs(t, err, context.Canceled)
}

func TestResolve(t *testing.T) {
	t.Parallel()
	g, first, second := released(t)
	g.git("tag", "main", "1.0.0") // as the branch
	g.git("tag", "nested", "1.1.0")
	g.git("tag", "-a", "-m", "x", "of-tag", "1.1.0")
	g.git("tag", "deadbeef", "1.0.0")
	g.git("tag", "ünïcode", "1.0.0")
	r := g.open()
	for _, row := range []struct {
		reason, revision string
		want             Commit
	}{
		{"vcs 16: a tag", "1.0.0", first}, {"an annotated tag", "1.1.0", second}, {"a tag of a tag", "of-tag", second},
		{"a branch", "feature/x", first}, {"of a tag and a branch the tag", "main", first}, {"the full name of a branch", "refs/heads/main", second},
		{"the full name of a tag", "refs/tags/1.1.0", second}, {"an id", string(second), second}, {"an id in capitals", strings.ToUpper(string(second)), second},
		{"an abbreviation", string(second)[:8], second}, {"one with an odd number of digits", string(second)[:9], second},
		{"the id of a tag", g.git("rev-parse", "1.1.0"), second}, {"a tag that looks like an id", "deadbeef", first}, {"letters of the world", "ünïcode", first},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			got, err := r.Resolve(t.Context(), row.revision)
			require.NoError(t, err)
			assert.Equal(t, row.want, got)
		})
	}
}

func TestResolveRefuses(t *testing.T) {
	t.Parallel()
	g, first, _ := released(t)
	g.git("tag", "tree", "HEAD^{tree}")
	for name, text := range map[string]string{
		"loop": "ref: refs/heads/pool\n", "pool": "ref: refs/heads/loop\n", "out": "ref: ../../../etc/passwd\n", "head": "ref: HEAD\n",
		"lost": "ref: refs/heads/nowhere\n", "gone": strings.Repeat("1", 40) + "\n", "junk": "junk\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(g.dir, ".git", "refs", "heads", name), []byte(text), 0o600))
	}
	r := g.open()
	for _, row := range []struct{ reason, revision, want string }{
		{"vcs 16: unknown", "2.0.0", "there is no such tag, branch or commit"}, {"empty", "", "it is empty"}, {"nothing but digits of no commit", "abcdef1", "no such"},
		{"too few digits", string(first)[:3], "no such"}, {"an expression", "main~1", "no name of a reference may have"}, {"two dots", "1.0.0..1.1.0", "other expressions of git"},
		{"a reflog", "main@{1}", "it isn't the name"}, {"HEAD", "HEAD", "no such"}, {"an option", "--upload-pack=x", "begins with a hyphen"},
		{"a path", "../../etc/passwd", "it isn't the name"}, {"a hidden part", "a/.b", "can't be in the name"}, {"a lock", "main.lock", "can't be in the name"},
		{"a nul", "a\x00b", "no name of a reference may have"}, {"no text", "\xff\xfe", "it isn't UTF-8"}, {"a slash at the end", "main/", "can't be in the name"}, {"long", strings.Repeat("x", 5000), "too long"},
		{"a dot at the end", "1.0.", "ends with a dot"}, {"a tag of no commit", "tree", "it is a tree and not a commit"}, {"a remote's short name", "origin/main", "no such"},
		{"references in a circle", "loop", "5 symbolic references follow each other"}, {"one that leads out", "out", "can't be a reference"}, {"one that leads to HEAD", "head", "can't be a reference"},
		{"one that leads nowhere", "lost", "no such"}, {"one of an object that is missing", "gone", "object not found"},
		{"one of nonsense", "junk", "object"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			_, err := r.Resolve(t.Context(), row.revision)
			var config *ConfigError
			require.True(t, errors.As(err, &config), "%v", err)
			assert.ErrorContains(t, err, row.want)
			assert.ErrorContains(t, err, fmt.Sprintf("resolve %q in", row.revision), "it names its subject")
		})
	}
}

func TestAmbiguous(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	seen := map[string]bool{}
	for i := range 2000 {
		g.git("commit", "-q", "--allow-empty", "-m", fmt.Sprint(i))
		digits := g.git("rev-parse", "HEAD")[:4]
		if seen[digits] {
			_, err := g.open().Resolve(t.Context(), digits)
			require.ErrorContains(t, err, "2 commits begin with it: give more digits")
			return
		}
		seen[digits] = true
	}
	t.Fatal("no two commits begin alike")
}
