package vcs

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// shipped is a repository with what the default keeps, and what it doesn't, and a history.
func shipped(t *testing.T) *gitRepository {
	t.Helper()
	g := newGit(t)
	random := rand.New(rand.NewPCG(1, 2))
	words := func(n int) string {
		var text strings.Builder
		for range n {
			fmt.Fprintf(&text, "line %d\n", random.IntN(1_000_000))
		}
		return text.String()
	}
	g.write("secret.txt", "a password that was committed once\n", 0o600)
	g.write("large.txt", words(2000), 0o644)
	g.write("bin/run", "#!/bin/sh\n", 0o755)
	require.NoError(t, os.Symlink("run", filepath.Join(g.dir, "bin", "link")))
	g.commit("history")
	require.NoError(t, os.Remove(filepath.Join(g.dir, "secret.txt")))
	for i, tag := range []string{"1.1.0", "1.2.0", "9.9.9-rc1"} {
		g.write(fmt.Sprintf("templates/%d.yaml", i), words(20), 0o644)
		large, err := os.ReadFile(filepath.Join(g.dir, "large.txt"))
		require.NoError(t, err)
		g.write("large.txt", string(large)+words(3), 0o644)
		g.commit("between " + tag)
		g.commit("release " + tag)
		g.git("tag", tag)
	}
	g.git("tag", "-a", "-m", "annotated", "v2.0.0")
	g.git("branch", "release/x", "1.2.0")
	return g
}

// setup makes a repository of what g has, and opens it for git.
func (g *gitRepository) setup(options SetupOptions) (*gitRepository, Report) {
	g.t.Helper()
	options.Source = g.dir
	if options.Destination == "" {
		options.Destination = filepath.Join(g.t.TempDir(), "versions")
	}
	report, err := Setup(g.t.Context(), options)
	require.NoError(g.t, err)
	assert.Positive(g.t, report.Took)
	report.Took = 0
	return &gitRepository{g.t, options.Destination}, report
}

func (r Report) names() (names []string) {
	for _, kept := range r.Kept {
		names = append(names, kept.Name)
	}
	slices.Sort(names)
	return names
}

func TestSetup(t *testing.T) {
	t.Parallel()
	for _, packed := range []bool{false, true} {
		t.Run(fmt.Sprintf("vcs 22, 24, 25, 26: packed %v", packed), func(t *testing.T) {
			t.Parallel()
			g := shipped(t)
			if packed {
				g.git("gc", "-q", "--aggressive")
			}
			result, report := g.setup(SetupOptions{Branches: []string{"release/.*"}})
			assert.Equal(t, []string{"1.1.0", "1.2.0", "release/x", "v2.0.0"}, report.names(), "vcs 24, 26")
			assert.Empty(t, result.git("fsck", "--strict", "--no-dangling"))
			assert.Equal(t, "1.1.0\n1.2.0\nrelease/x\nv2.0.0", result.git("for-each-ref", "--format=%(refname:short)", "refs/heads"))
			assert.Empty(t, result.git("tag")+result.git("remote"))
			assert.Equal(t, string(report.Root), result.git("rev-parse", "HEAD"))
			assert.Equal(t, "HEAD", result.git("rev-parse", "--abbrev-ref", "HEAD"))
			assert.Empty(t, result.git("ls-tree", "HEAD"), "the root is empty")
			assert.Empty(t, result.git("status", "--porcelain"))
			for _, kept := range report.Kept {
				assert.Equal(t, g.git("ls-tree", "-r", kept.Ref.Full), result.git("ls-tree", "-r", kept.Name), kept.Name)
				assert.Equal(t, g.git("rev-parse", kept.Ref.Full+"^{tree}"), kept.Tree)
				assert.Equal(t, string(kept.Commit), result.git("rev-parse", kept.Name))
				assert.Equal(t, "2", result.git("rev-list", "--count", kept.Name), "one commit on the root")
				assert.Equal(t, "operkit <noreply@operkit.dev> 1700000000 +0100 "+kept.Ref.Name, result.git("log", "-1", "--format=%an <%ae> %ad %s", "--date=raw", kept.Name))
			}
			for line := range strings.Lines(g.git("rev-list", "--all")) {
				_, err := result.try("cat-file", "-e", strings.TrimSpace(line))
				assert.Error(t, err, "vcs W14: no commit of the source is there")
			}
			secret := g.git("rev-parse", string(g.git("rev-list", "--max-parents=0", "HEAD"))+":secret.txt")
			_, err := result.try("cat-file", "-e", secret)
			assert.Error(t, err, "nor is what was deleted")
			count := strings.Fields(result.git("count-objects", "-v"))
			assert.Equal(t, fmt.Sprint(report.Objects), count[slices.Index(count, "in-pack:")+1])
			assert.Equal(t, "0", count[slices.Index(count, "count:")+1], "all in one pack")
			_, again := g.setup(SetupOptions{Branches: []string{"release/.*"}})
			assert.Equal(t, report, again, "vcs W15: twice the same")
			opened, err := Open(result.dir)
			require.NoError(t, err)
			defer func() { require.NoError(t, opened.Close()) }()
			path := filepath.Join(t.TempDir(), "one")
			_, err = opened.Checkout(t.Context(), "1.2.0", path, Worktree)
			require.NoError(t, err)
			assert.Equal(t, g.worktree(Commit(g.git("rev-parse", "1.2.0"))), files(t, path))
		})
	}
}

func TestSetupChooses(t *testing.T) {
	t.Parallel()
	g := shipped(t)
	g.git("branch", "1.1.0")
	g.git("tag", "release")
	g.git("tag", "of-a-tree", "HEAD^{tree}")
	g.git("tag", "-a", "-m", "one", "of-a-file", "HEAD:large.txt")
	g.git("branch", "deep/er/branch")
	g.git("tag", "deep/er")
	g.git("tag", "a,b")
	g.git("branch", "maintenance")
	g.git("branch", "feature/tags")
	g.git("update-ref", "refs/remotes/origin/3.0.0", "HEAD")
	for _, row := range []struct {
		reason  string
		options SetupOptions
		want    []string
	}{
		{"vcs W12: the default", SetupOptions{}, []string{"1.1.0", "1.2.0", "v2.0.0"}},
		{"vcs W13: all of the name", SetupOptions{Tags: []string{`[0-9]\.[0-9]\.[0-9]`}, Branches: []string{"main"}}, []string{"1.1.0", "1.2.0", "main"}},
		{"vcs W13: its beginning", SetupOptions{Tags: []string{`9`}, Branches: []string{"main"}, Prefix: true}, []string{"9.9.9-rc1", "main", "maintenance"}},
		{"one of several", SetupOptions{Tags: []string{"1.1.0|x", "1.2.0"}}, []string{"1.1.0", "1.2.0"}},
		{"vcs 22: no tag", SetupOptions{Tags: []string{}, Branches: []string{"main"}}, []string{"main"}},
		{"vcs 26: a branch of a tag's name", SetupOptions{Tags: []string{"1.1.0"}, Branches: []string{"1.1.0"}}, []string{"1.1.0"}},
		{"vcs 26: what can't be below a tag's name", SetupOptions{Tags: []string{"release", "deep/er"}, Branches: []string{"release/x", "deep/.*"}}, []string{"deep/er", "release"}},
		{"tags of what is no version", SetupOptions{Tags: []string{"of-.*", "1.1.0"}}, []string{"1.1.0"}},
		{"a comma belongs to the expression", SetupOptions{Tags: []string{"a,b"}}, []string{"a,b"}},
		{"a quotation that isn't closed", SetupOptions{Tags: []string{`\Q1.1.0`}}, []string{"1.1.0"}},
		{"flags hold for their expression alone", SetupOptions{Tags: []string{"(?i)RELEASE", "V2.0.0"}}, []string{"release"}},
		{"vcs W17: names that look like others", SetupOptions{Tags: []string{}, Branches: []string{"feature/tags", "3.0.0"}}, []string{"feature/tags"}},
	} {
		t.Run(row.reason, func(t *testing.T) {
			_, report := g.setup(row.options)
			assert.Equal(t, row.want, report.names())
		})
	}
	result, report := g.setup(SetupOptions{TagsAs: AsTags, Branches: []string{"1.1.0"}})
	assert.Equal(t, []string{"1.1.0", "1.1.0", "1.2.0", "v2.0.0"}, report.names(), "as tags they don't stand in the way of branches")
	assert.Equal(t, "1.1.0\n1.2.0\nv2.0.0", result.git("tag"))
	var reasons []string
	for _, skipped := range report.Skipped {
		reasons = append(reasons, skipped.Ref.Name+": "+skipped.Reason)
	}
	assert.Contains(t, reasons, "9.9.9-rc1: no expression matches its name")
	_, report = g.setup(SetupOptions{Tags: []string{".*"}, Branches: []string{".*"}})
	reasons = nil
	for _, skipped := range report.Skipped {
		reasons = append(reasons, string(skipped.Ref.Kind)+" "+skipped.Ref.Name+": "+skipped.Reason)
	}
	assert.Equal(t, []string{
		"tag of-a-file: it points to a blob and not to a commit", "tag of-a-tree: it points to a tree and not to a commit", "branch 1.1.0: a tag of that name is kept",
		`branch deep/er/branch: the tag "deep/er" is kept, and no other name can be below it`, `branch release/x: the tag "release" is kept, and no other name can be below it`,
	}, reasons)
}

func TestSetupRefuses(t *testing.T) {
	t.Parallel()
	g := shipped(t)
	base := t.TempDir()
	file, full, link := filepath.Join(base, "file"), filepath.Join(base, "full"), filepath.Join(base, "link")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.NoError(t, os.MkdirAll(filepath.Join(full, "theirs"), 0o755))
	require.NoError(t, os.Symlink(full, link))
	empty := newGit(t)
	tree, linked := filepath.Join(t.TempDir(), "tree"), filepath.Join(base, "linked")
	g.git("worktree", "add", "-q", "--detach", tree)
	require.NoError(t, os.Symlink(g.dir, linked))
	shared := &gitRepository{t, filepath.Join(t.TempDir(), "shared")}
	g.git("clone", "-q", "--shared", g.dir, shared.dir)
	for _, row := range []struct {
		reason  string
		options SetupOptions
		want    string
	}{
		{"vcs 23: no repository", SetupOptions{Source: base, Destination: filepath.Join(base, "new")}, "it isn't a git repository"},
		{"vcs 23: a file", SetupOptions{Destination: file, Force: true}, "it is a file"},
		{"vcs 23: something is there", SetupOptions{Destination: full}, "it isn't empty"},
		{"vcs W16: a link", SetupOptions{Destination: link, Force: true}, "it is a symbolic link"},
		{"vcs W16: the source", SetupOptions{Destination: g.dir, Force: true}, "it is the source"},
		{"vcs W16, W21: inside of the source", SetupOptions{Destination: filepath.Join(g.dir, "operator_vcs")}, "it is inside the source"},
		{"vcs W16: around the source", SetupOptions{Destination: filepath.Dir(g.dir), Force: true}, "is inside it"},
		{"vcs W16: a bad expression", SetupOptions{Destination: filepath.Join(base, "new"), Tags: []string{"ok", "("}}, `tag expression 2, "(": `},
		{"an unknown kind of result", SetupOptions{Destination: filepath.Join(base, "new"), TagsAs: "leaves"}, `TagsAs "leaves": use branches or tags`},
		{"nowhere", SetupOptions{}, "setup destination: no path is given"},
		{"an expression that is empty, as of a variable that isn't set", SetupOptions{Destination: filepath.Join(base, "new"), Branches: []string{""}}, "branch expression 1 is empty"},
		{"no expression", SetupOptions{Destination: filepath.Join(base, "new"), Tags: []string{}}, "there are no expressions"},
		{"no source", SetupOptions{Source: " ", Destination: filepath.Join(base, "new")}, "setup source: no path is given"},
		{"a source without commits", SetupOptions{Source: empty.dir, Destination: filepath.Join(base, "new")}, "the source has no commits"},
		{"around the objects of a work tree", SetupOptions{Source: tree, Destination: filepath.Join(g.dir, ".git", "objects"), Force: true}, "it is inside the source"},
		{"around the repository of a work tree", SetupOptions{Source: tree, Destination: g.dir, Force: true}, "is inside it"},
		{"inside of the source by a link", SetupOptions{Destination: filepath.Join(linked, "new")}, "it is inside the source"},
		{"a source that shares objects", SetupOptions{Source: shared.dir, Destination: filepath.Join(base, "new")}, "names another repository with more objects"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			if row.options.Source == "" {
				row.options.Source = g.dir
			}
			_, err := Setup(t.Context(), row.options)
			var config *ConfigError
			require.True(t, errors.As(err, &config), "%v", err)
			assert.ErrorContains(t, err, row.want)
			assert.NoDirExists(t, filepath.Join(base, "new"))
			assert.DirExists(t, filepath.Join(full, "theirs"), "nothing is touched")
		})
	}
}

// TestTwoNames has one folder have two names: by a link, as by a mount, or where letters may be small or capital ones.
func TestTwoNames(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	folder, link, beside := filepath.Join(base, "folder"), filepath.Join(base, "link"), filepath.Join(base, "folder-2")
	require.NoError(t, os.Mkdir(folder, 0o755))
	require.NoError(t, os.Mkdir(beside, 0o755))
	require.NoError(t, os.Symlink(folder, link))
	for _, row := range []struct {
		reason, path, other string
		same, below         bool
	}{
		{"vcs W16: it", folder, folder, true, false}, {"vcs W16: it, by another name", link, folder, true, false}, {"vcs W16: inside", filepath.Join(folder, "new"), folder, false, true},
		{"vcs W16: deep inside, by another name", filepath.Join(link, "new", "deep"), folder, false, true},
		{"vcs W16: inside of what is named otherwise", filepath.Join(folder, "new"), link, false, true},
		{"beside it", beside, folder, false, false}, {"beside it, where nothing is yet", filepath.Join(base, "new"), folder, false, false}, {"above it", base, link, false, false},
		{"two that aren't there", filepath.Join(base, "new"), filepath.Join(base, "other"), false, false},
	} {
		assert.Equal(t, row.same, isSame(row.path, row.other), row.reason)
		assert.Equal(t, row.below, isBelow(row.path, row.other), row.reason)
	}
}

// TestSetupOfDeepVersions has one version be in another one, each of which isn't too deep.
func TestSetupOfDeepVersions(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	tree := g.putTree(item{"100644", "a", g.put("blob", []byte("mine\n"))})
	for _, version := range []string{"1.0.0", "2.0.0"} {
		for range maxDepth / 2 {
			tree = g.putTree(item{"40000", "d", tree})
		}
		g.ref(version, g.put("commit", []byte("tree "+tree+"\n"+committer+"\nx\n")))
	}
	result, _ := g.setup(SetupOptions{Verify: true})
	_, err := result.open().Checkout(t.Context(), "2.0.0", filepath.Join(t.TempDir(), "one"), Worktree)
	require.NoError(t, err)
	g.ref("3.0.0", g.put("commit", []byte("tree "+g.putTree(item{"40000", "d", tree})+"\n"+committer+"\nx\n")))
	_, err = Setup(t.Context(), SetupOptions{Source: g.dir, Destination: filepath.Join(t.TempDir(), "new")})
	require.ErrorContains(t, err, "refs/tags/3.0.0: folders are more than 256 deep")
}

func TestSetupReplaces(t *testing.T) {
	t.Parallel()
	g := shipped(t)
	base := t.TempDir()
	path := filepath.Join(base, "versions")
	require.NoError(t, os.MkdirAll(filepath.Join(path, "old"), 0o755))
	planned, err := Setup(t.Context(), SetupOptions{Source: g.dir, Destination: path, Force: true, DryRun: true})
	require.NoError(t, err)
	assert.DirExists(t, filepath.Join(path, "old"), "a dry run makes nothing")
	planned.Took = 0
	result, report := g.setup(SetupOptions{Destination: path, Force: true})
	report.Bytes = 0
	assert.Equal(t, planned, report, "but says what would be made")
	unlock, err := tryLock(lockOf(path))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err = Setup(ctx, SetupOptions{Source: g.dir, Destination: path, Force: true, Progress: func(p Progress) {
		if p.Done == p.Total {
			cancel() // what is left is to wait for the lock
		}
	}})
	var contention *ContentionError
	require.True(t, errors.As(err, &contention), "%v", err)
	_, err = Setup(t.Context(), SetupOptions{Source: g.dir, Destination: path, Force: true, NoWait: true})
	require.True(t, errors.As(err, &contention), "%v", err)
	unlock()
	assert.NoDirExists(t, filepath.Join(path, "old"))
	assert.Empty(t, result.git("fsck", "--strict", "--no-dangling"))
	// Who was killed between the two renames left what was there under another name.
	require.NoError(t, os.Rename(path, replaced(path)))
	_, err = Setup(t.Context(), SetupOptions{Source: g.dir, Destination: path})
	assert.ErrorContains(t, err, "it isn't empty")
	assert.Empty(t, result.git("fsck", "--strict", "--no-dangling"), "it is back")
	// One that can't be completed leaves what is there.
	blob := g.git("rev-parse", "1.1.0:large.txt")
	require.NoError(t, os.Remove(filepath.Join(g.dir, ".git", "objects", blob[:2], blob[2:])))
	_, err = Setup(t.Context(), SetupOptions{Source: g.dir, Destination: path, Force: true})
	var failed *RuntimeError
	require.True(t, errors.As(err, &failed), "%v", err)
	assert.ErrorContains(t, err, "object "+blob+": object not found: the repository "+g.dir+" is broken or incomplete")
	assert.Empty(t, result.git("fsck", "--strict", "--no-dangling"), "what was there is unharmed")
	entries, err := os.ReadDir(base)
	require.NoError(t, err)
	assert.Len(t, entries, 1, "the result alone: no lock, nothing temporary")
}
