package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A repository of releases as operators have it, from loose objects and from a pack, as git sees the result.
func TestReleases(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"loose", "packed", "bare"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			g := released(t)
			switch how {
			case "packed":
				g.git("gc", "-q")
			case "bare":
				bare := repository{t, filepath.Join(t.TempDir(), "bare.git")}
				g.git("clone", "-q", "--mirror", g.dir, bare.dir)
				g = bare
			}
			made := g.setup("--branch-expr", "release/.*", "--verify")
			again := g.setup("--branch-expr", "release/.*")
			assert.Equal(t, []string{"refs/heads/1.1.0", "refs/heads/1.2.0", "refs/heads/release/x", "refs/heads/v2.0.0"}, made.refs(), "not the release candidate")
			assert.Equal(t, g.setup().refs(), []string{"refs/heads/1.1.0", "refs/heads/1.2.0", "refs/heads/v2.0.0"}, "the branch only if it is asked for")
			for source, name := range map[string]string{"refs/tags/1.1.0": "1.1.0", "refs/tags/1.2.0": "1.2.0", "refs/tags/v2.0.0": "v2.0.0", "refs/heads/release/x": "release/x"} {
				assert.Equal(t, g.git("rev-parse", source+"^{tree}"), made.git("rev-parse", name+"^{tree}"))
				assert.Equal(t, g.git("ls-tree", "-r", "-t", source), made.git("ls-tree", "-r", "-t", name))
			}
			for _, commit := range strings.Fields(g.git("rev-list", "--all")) {
				_, err := made.try("cat-file", "-e", commit)
				assert.Error(t, err, "no commit of the source is there: %s", commit)
			}
			_, err := made.try("cat-file", "-e", g.git("rev-parse", "v2.0.0"))
			assert.Error(t, err, "nor the object of an annotated tag")
			first := g.git("rev-list", "--max-parents=0", "main")
			_, err = made.try("cat-file", "-e", g.git("rev-parse", first+":secret.txt"))
			assert.Error(t, err, "nor what was deleted")
			assert.Empty(t, made.git("fsck", "--strict", "--full"))
			assert.Equal(t, made.git("for-each-ref"), again.git("for-each-ref"), "twice the same ids")
			assert.Equal(t, made.git("rev-parse", "HEAD"), again.git("rev-parse", "HEAD"))
		})
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	g := released(t)
	g.git("tag", "1.2.0garbage")
	g.git("tag", "a,b")
	g.git("branch", "maintenance")
	g.git("branch", "1.2.0", "1.1.0")
	g.git("update-ref", "refs/remotes/origin/3.0.0", "HEAD")
	g.git("update-ref", "refs/stash", "HEAD")
	for _, row := range []struct {
		reason string
		args   string
		want   string
	}{
		{"vcs 22: by default releases, with and without their letter, and no branch", "", "1.1.0 1.2.0 v2.0.0"},
		{"vcs 22: long names", "--branch-expr main --tag-expr 1.1.0", "1.1.0 main"},
		{"vcs 22: short names", "-b main -t 1.1.0", "1.1.0 main"},
		{"vcs 22: oper8's spelling", "-te 1.1.0 -te=v2.0.0", "1.1.0 v2.0.0"},
		{"vcs 22: -t and what follows it", "-tv2.0.0", "v2.0.0"},
		{"vcs 22: several, a comma belongs to each", "-t a,b -t 1.1.0 -b main -b maint.*", "1.1.0 a,b main maintenance"},
		{"vcs 22: explicitly no tags", "--no-tags -b main", "main"},
		{"vcs 24: tags are what is below refs/tags, branches what is local", "-t .*3.0.0|stash|HEAD|main -b .*3.0.0|stash|HEAD|main", "main"},
		{"vcs 26: of a tag and a branch of one name the tag", "-t 1.2.0 -b 1.2.0", "1.2.0"},
		{"vcs W12: the command alone", "-f", "1.1.0 1.2.0 v2.0.0"},
		{"vcs W13: all of a name", "-t 1[.]2[.]0 -b main", "1.2.0 main"},
		{"vcs W13: its beginning, if that is asked for", "-t 1[.]2[.]0 -b main --prefix", "1.2.0 1.2.0garbage main maintenance"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			made := g.setup(strings.Fields(row.args)...)
			assert.Equal(t, row.want, strings.ReplaceAll(strings.Join(made.refs(), " "), "refs/heads/", ""))
			assert.Empty(t, made.git("fsck", "--strict", "--full"))
		})
	}
	t.Run("vcs 26: which is the tag's files", func(t *testing.T) {
		t.Parallel()
		made := g.setup("-b", "1.2.0")
		assert.Equal(t, g.git("rev-parse", "refs/tags/1.2.0^{tree}"), made.git("rev-parse", "1.2.0^{tree}"))
	})
	t.Run("vcs W17: branches whose names look like others", func(t *testing.T) {
		t.Parallel()
		g := released(t)
		for _, name := range []string{"feature/tags", "remotes/x", "HEAD/y"} {
			g.git("branch", name)
		}
		made := g.setup("--no-tags", "-b", ".*/(tags|x|y)")
		assert.Equal(t, []string{"refs/heads/HEAD/y", "refs/heads/feature/tags", "refs/heads/release/x", "refs/heads/remotes/x"}, made.refs())
	})
}

func TestDestinations(t *testing.T) {
	t.Parallel()
	g := released(t)
	t.Run("vcs 22: the default is operator_vcs, here", func(t *testing.T) {
		t.Parallel()
		here := t.TempDir()
		done(t, here, "-s", g.dir)
		assert.Equal(t, []string{"operator_vcs"}, names(t, here), "and nothing beside it")
	})
	t.Run("vcs 23: it is made, with what is above it, and may be empty", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "deep", "er", "versions")
		require.NoError(t, os.MkdirAll(filepath.Join(filepath.Dir(path), "empty"), 0o755))
		done(t, "", "-s", g.dir, "-d", path)
		done(t, "", "-s", g.dir, "-d", filepath.Join(filepath.Dir(path), "empty"))
	})
	t.Run("vcs 23: with force its content goes", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "versions")
		require.NoError(t, os.MkdirAll(filepath.Join(path, "theirs"), 0o755))
		r := run(t, "", "-s", g.dir, "-d", path)
		assert.Equal(t, 2, r.code)
		assert.Contains(t, r.stderr, "it isn't empty: use force to replace it")
		assert.Equal(t, []string{"theirs"}, names(t, path))
		done(t, "", "-s", g.dir, "-d", path, "--force", "--dry-run")
		assert.Equal(t, []string{"theirs"}, names(t, path), "a dry run makes nothing")
		done(t, "", "-s", g.dir, "-d", path, "--force")
		assert.Equal(t, []string{".git"}, names(t, path))
	})
	t.Run("a result may be the source of another one", func(t *testing.T) {
		t.Parallel()
		first := g.setup()
		second := first.setup("--no-tags", "-b", ".*", "--verify")
		assert.Equal(t, first.git("for-each-ref"), second.git("for-each-ref"))
	})
}

// What is in the result, and what isn't.
func TestStructure(t *testing.T) {
	t.Parallel()
	g := released(t)
	made, root := g.setup("-b", "release/x"), ""
	t.Run("vcs 25: an empty root, at which HEAD is, and an empty work tree", func(t *testing.T) {
		root = made.git("rev-parse", "HEAD")
		assert.Equal(t, "HEAD", made.git("rev-parse", "--abbrev-ref", "HEAD"), "detached")
		assert.Empty(t, made.git("ls-tree", "HEAD"))
		assert.Empty(t, made.git("status", "--porcelain", "--ignored"))
		assert.Equal(t, []string{".git"}, names(t, made.dir))
		assert.Empty(t, made.git("tag")+made.git("remote")+made.git("reflog"))
	})
	t.Run("vcs 25: one commit each, with its name and the author", func(t *testing.T) {
		for _, name := range []string{"1.1.0", "1.2.0", "v2.0.0", "release/x"} {
			assert.Equal(t, root, made.git("rev-parse", name+"^"))
			assert.Equal(t, "2", made.git("rev-list", "--count", name))
			want := name + "\n|operkit <noreply@operkit.dev>|1700000000 +0100|operkit <noreply@operkit.dev>|1700000001 +0200"
			assert.Equal(t, want, made.git("log", "-1", "--date=raw", "--format=%B|%an <%ae>|%ad|%cn <%ce>|%cd", name, "--"), "vcs W15: at the times of the source")
		}
		assert.Equal(t, "0 +0000", made.git("log", "-1", "--date=raw", "--format=%cd", "HEAD", "--"))
	})
	t.Run("vcs 25: modes, links, and what is ignored but tracked", func(t *testing.T) {
		tree := made.git("ls-tree", "-r", "1.1.0")
		for _, want := range []string{"100755 blob", "120000 blob", "\tkept.log"} {
			assert.Contains(t, tree, want)
		}
		made.git("checkout", "-q", "1.1.0")
		target, err := os.Readlink(filepath.Join(made.dir, "bin", "web"))
		require.NoError(t, err)
		assert.Equal(t, "../charts/web", target)
	})
	t.Run("vcs W14: one pack, and nothing else", func(t *testing.T) {
		assert.Equal(t, []string{"info", "pack"}, names(t, filepath.Join(made.dir, ".git", "objects")))
		assert.Len(t, names(t, filepath.Join(made.dir, ".git", "objects", "pack")), 2)
	})
	tags := g.setup("--tags-as", "tags", "-b", "release/x")
	assert.Equal(t, []string{"refs/heads/release/x", "refs/tags/1.1.0", "refs/tags/1.2.0", "refs/tags/v2.0.0"}, tags.refs(), "as tags, if that is asked for")
}
