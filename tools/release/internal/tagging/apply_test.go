package tagging_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/module"
	modzip "golang.org/x/mod/zip"

	"github.com/operkit/operkit/tools/release/internal/plan"
	"github.com/operkit/operkit/tools/release/internal/repotest"
	"github.com/operkit/operkit/tools/release/internal/snapshot"
	"github.com/operkit/operkit/tools/release/internal/tagging"
)

const otherAside = "// Package aside needs nobody.\npackage aside\n\n// Alone is true.\nconst Alone = true\n\n// Really is more.\nconst Really = true\n"

func TestApply(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, repotest.Standard())
	begin := r.Git("rev-parse", "HEAD")
	result, err := release(t.Context(), r.Root)
	require.NoError(t, err)
	tags := []string{"aside/v0.1.0", "ground/v0.1.0", "middle/v0.1.0", "top/v0.1.0"}
	assert.Equal(t, tags, result.Tags)
	assert.Equal(t, "git push --atomic REMOTE main aside/v0.1.0 ground/v0.1.0 middle/v0.1.0 top/v0.1.0", result.Push)

	assert.Equal(t, "refs/heads/main", r.Git("symbolic-ref", "HEAD"))
	assert.Equal(t, result.Commit, r.Git("rev-parse", "HEAD"))
	assert.Equal(t, begin, r.Git("rev-parse", "HEAD^"))
	assert.Equal(t, "", r.Git("status", "--porcelain"), "the working tree came along")
	assert.Equal(t, "release: aside v0.1.0, ground v0.1.0, middle v0.1.0, top v0.1.0", r.Git("log", "-1", "--format=%s"))
	assert.Equal(t, strings.Join(tags, "\n"), r.Git("tag", "--list"))
	for _, tag := range tags {
		assert.Equal(t, "tag", r.Git("cat-file", "-t", tag), "it is annotated")
		assert.Equal(t, result.Tagged, r.Git("rev-parse", tag+"^{commit}"))
	}
	assert.Equal(t, tags[0]+"\n\n- First release.", r.Git("for-each-ref", "--format=%(contents)", "refs/tags/"+tags[0]))
	assert.Equal(t, result.Commit, r.Git("rev-parse", tags[0]+"^{commit}^"), "its parent is on the branch")
	assert.Equal(t, "", r.Git("branch", "--contains", result.Tagged), "and itself on none")
	r.Git("fsck", "--strict")

	assert.Contains(t, r.Git("show", "HEAD:top/CHANGELOG.md"), "## Unreleased\n\n## v0.1.0 - 2026-05-04\n\n- First release.")
	assert.Contains(t, r.Git("show", "HEAD:top/go.mod"), "=> ../middle", "the branch keeps what replaces siblings")
	assert.NotContains(t, r.Git("show", "top/v0.1.0:top/go.mod"), "=>")
	assert.Contains(t, r.Git("show", "top/v0.1.0:top/go.mod"), "require example.com/kit/middle v0.1.0")
	assert.Contains(t, r.Git("show", "top/v0.1.0:top/go.sum"), "example.com/kit/middle v0.1.0 h1:")
	assert.Contains(t, r.Git("show", "top/v0.1.0:scratch/go.mod"), "=> ../top", "what isn't released is as it was")
	assert.Equal(t, "middle/go.mod\nmiddle/go.sum\ntop/go.mod\ntop/go.sum", r.Git("diff", "--name-only", "HEAD", "top/v0.1.0"))

	_, err = release(t.Context(), r.Root)
	assert.EqualError(t, err, "nothing to release: no module has changed since its last tag", "a release is no reason for another one")
}

// TestWhatIsTaggedIsWhatWasPlanned compares the archives that are made of a plan with those that the go command makes
// of the tags.
func TestWhatIsTaggedIsWhatWasPlanned(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, repotest.Standard())
	for round, files := range []repotest.Files{nil, {"ground/README.md": "x"}, {"aside/aside.go": otherAside}, {"middle/x.txt": "x", "aside/y.txt": "y"}} {
		r.Write(files)
		r.Commit("change")
		opened := r.Open()
		p, err := plan.Make(t.Context(), opened, day)
		require.NoError(t, err)
		planned, err := p.Publish(t.Context(), opened)
		require.NoError(t, err)
		require.NoError(t, tagging.Check(t.Context(), opened, p))
		_, err = tagging.Apply(t.Context(), opened, p)
		require.NoError(t, err)
		require.Len(t, planned, 4)
		for _, m := range planned {
			var archive bytes.Buffer
			require.NoError(t, modzip.CreateFromVCS(&archive, module.Version{Path: m.Path, Version: m.Version}, r.Root, m.Tag(m.Version), m.Dir))
			sum, modSum, err := m.Files.Sums(archive.Bytes())
			require.NoError(t, err)
			assert.Equal(t, m.Published, snapshot.Published{Version: m.Version, Sum: sum, ModSum: modSum}, "round %d: %s", round, m.Path)
			for _, sibling := range planned {
				if bytes.Contains(m.Files["go.mod"], []byte(sibling.Path+" v")) {
					assert.Contains(t, string(m.Files["go.mod"]), sibling.Path+" "+sibling.Version)
					assert.Contains(t, string(m.Files["go.sum"]), sibling.Path+" "+sibling.Version+" "+sibling.Sum+"\n")
				}
			}
		}
	}
	assert.Equal(t, []string{
		"aside/v0.1.0", "aside/v0.2.0", "aside/v0.2.1", "ground/v0.1.0", "ground/v0.1.1", "middle/v0.1.0", "middle/v0.1.1", "middle/v0.1.2",
		"top/v0.1.0", "top/v0.1.1", "top/v0.1.2",
	}, strings.Split(r.Git("tag", "--list"), "\n"))
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		spoil  func(r *repotest.Repository)
		want   string
	}{
		{"a change", func(r *repotest.Repository) { r.Write(repotest.Files{"top/main.go": "package main\n"}) },
			"the working tree has changes, which would not be in the release: commit or remove them\nM top/main.go"},
		{"a change that is staged", func(r *repotest.Repository) { r.Write(repotest.Files{"top/x.go": "package main\n"}); r.Git("add", ".") },
			"the working tree has changes, which would not be in the release: commit or remove them\nA  top/x.go"},
		{"a new file, even outside of modules", func(r *repotest.Repository) { r.Write(repotest.Files{"new/file": "x"}) },
			"the working tree has changes, which would not be in the release: commit or remove them\n?? new/file"},
		{"no branch", func(r *repotest.Repository) { r.Git("checkout", "--quiet", "--detach") },
			"HEAD is detached: check out a branch, because a release is a commit on a branch"},
		{"nothing to release", func(r *repotest.Repository) { r.Tag("aside/v0.1.0", "ground/v0.1.0", "middle/v0.1.0", "top/v0.1.0") },
			"nothing to release: no module has changed since its last tag"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			r := repotest.New(t, repotest.Standard())
			row.spoil(r)
			before := r.Git("for-each-ref")
			_, err := release(t.Context(), r.Root)
			require.Error(t, err)
			assert.Equal(t, row.want, strings.Replace(err.Error(), "\n M ", "\nM ", 1))
			assert.Equal(t, before, r.Git("for-each-ref"))
		})
	}
}

// TestSomebodyElseWasFaster changes the repository between the plan and its end.
func TestSomebodyElseWasFaster(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		spoil  func(r *repotest.Repository)
		want   string
	}{
		{"a tag has come", func(r *repotest.Repository) { r.Tag("top/v0.1.0") }, "top/v0.1.0"},
		{"a module has come", func(r *repotest.Repository) {
			r.Write(repotest.Files{"scratch/CHANGELOG.md": repotest.Changelog})
			r.Commit("one more")
		}, "module scratch: the plan doesn't know it: make the plan again"},
		{"a commit has come, which breaks callers", func(r *repotest.Repository) {
			r.Write(repotest.Files{"aside/aside.go": "package aside\n"})
			r.Commit("one more")
		}, "make the plan again"},
		{"a file was saved", func(r *repotest.Repository) { r.Write(repotest.Files{"aside/aside.go": otherAside}) }, "the working tree has changes"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			r := repotest.New(t, repotest.Standard())
			p, err := plan.Make(t.Context(), r.Open(), day)
			require.NoError(t, err)
			require.NoError(t, tagging.Check(t.Context(), r.Open(), p))
			row.spoil(r)
			before, tree := r.Git("for-each-ref"), r.Git("status", "--porcelain")
			if row.reason == "a tag has come" {
				assert.EqualError(t, tagging.Check(t.Context(), r.Open(), p), "tag top/v0.1.0: it exists already: make the plan again")
			}
			_, err = tagging.Apply(t.Context(), r.Open(), p)
			require.ErrorContains(t, err, row.want)
			assert.Equal(t, before, r.Git("for-each-ref"), "all or nothing")
			assert.Equal(t, tree, r.Git("status", "--porcelain"))
		})
	}
}

func TestPushCommand(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		setup  [][]string
		want   string
	}{
		{"the only one", [][]string{{"remote", "add", "up", "/x"}}, "git push --atomic up main "},
		{"the usual one", [][]string{{"remote", "add", "up", "/x"}, {"remote", "add", "origin", "/y"}}, "git push --atomic origin main "},
		{"the branch's", [][]string{{"remote", "add", "up", "/x"}, {"remote", "add", "origin", "/y"}, {"config", "branch.main.remote", "up"}}, "git push --atomic up main "},
		{"none to choose", [][]string{{"remote", "add", "up", "/x"}, {"remote", "add", "down", "/y"}}, "git push --atomic REMOTE main "},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			r := repotest.New(t, repotest.Standard())
			for _, args := range row.setup {
				r.Git(args...)
			}
			result, err := release(t.Context(), r.Root)
			require.NoError(t, err)
			assert.True(t, strings.HasPrefix(result.Push, row.want), result.Push)
		})
	}
}

func TestMessageOfManyModules(t *testing.T) {
	t.Parallel()
	files := repotest.Standard()
	files["more/go.mod"], files["more/more.go"], files["more/CHANGELOG.md"] = repotest.Mod("more"), "package more\n", repotest.Changelog
	r := repotest.New(t, files)
	_, err := release(t.Context(), r.Root)
	require.NoError(t, err)
	const names = "aside v0.1.0\nground v0.1.0\nmiddle v0.1.0\nmore v0.1.0\ntop v0.1.0"
	assert.Equal(t, "release: 5 modules\n\n"+names, r.Git("log", "-1", "--format=%B"))
	assert.Equal(t, "release: requirements of 5 modules\n\n"+names, r.Git("log", "-1", "--format=%B", "top/v0.1.0"))
}
