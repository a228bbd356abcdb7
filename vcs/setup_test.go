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
	"time"

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
	for _, row := range []struct {
		reason  string
		options SetupOptions
		want    string
	}{
		{"vcs 23: no repository", SetupOptions{Source: base, Destination: filepath.Join(base, "new")}, "it is no git repository"},
		{"vcs 23: a file", SetupOptions{Destination: file, Force: true}, "it is a file"},
		{"vcs 23: something is there", SetupOptions{Destination: full}, "it isn't empty"},
		{"vcs W16: a link", SetupOptions{Destination: link, Force: true}, "it is a symbolic link"},
		{"vcs W16: the source", SetupOptions{Destination: g.dir, Force: true}, "it is the source"},
		{"vcs W16, W21: inside of the source", SetupOptions{Destination: filepath.Join(g.dir, "operator_vcs")}, "it is inside of the source"},
		{"vcs W16: around the source", SetupOptions{Destination: filepath.Dir(g.dir), Force: true}, "is inside of it"},
		{"vcs W16: a bad expression", SetupOptions{Destination: filepath.Join(base, "new"), Tags: []string{"ok", "("}}, `tag expression 2, "(": `},
		{"an unknown kind of result", SetupOptions{Destination: filepath.Join(base, "new"), TagsAs: "leaves"}, `tags as "leaves": use branches or tags`},
		{"nowhere", SetupOptions{}, "no destination is given"},
		{"nothing matches", SetupOptions{Destination: filepath.Join(base, "new"), Tags: []string{"7.*"}}, "no expression matches anything: there are tag 1.1.0, tag 1.2.0, tag 9.9.9-rc1"},
		{"a source without commits", SetupOptions{Source: empty.dir, Destination: filepath.Join(base, "new")}, "the source has no tags and no branches"},
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

func TestSetupReplaces(t *testing.T) {
	t.Parallel()
	g := shipped(t)
	base := t.TempDir()
	path := filepath.Join(base, "versions")
	require.NoError(t, os.MkdirAll(filepath.Join(path, "old"), 0o755))
	planned, err := Setup(t.Context(), SetupOptions{Source: g.dir, Destination: path, Force: true, DryRun: true})
	require.NoError(t, err)
	assert.DirExists(t, filepath.Join(path, "old"), "a dry run makes nothing")
	result, report := g.setup(SetupOptions{Destination: path, Force: true})
	report.Bytes = 0
	assert.Equal(t, planned, report, "but says what would be made")
	unlock, err := tryLock(lockOf(path))
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = Setup(ctx, SetupOptions{Source: g.dir, Destination: path, Force: true})
	var contention *ContentionError
	require.True(t, errors.As(err, &contention), "%v", err)
	unlock()
	assert.NoDirExists(t, filepath.Join(path, "old"))
	assert.Empty(t, result.git("fsck", "--strict", "--no-dangling"))
	// One that can't be completed leaves what is there.
	g.git("tag", "6.6.6", "1.1.0")
	blob := g.git("rev-parse", "1.1.0:large.txt")
	require.NoError(t, os.Remove(filepath.Join(g.dir, ".git", "objects", blob[:2], blob[2:])))
	_, err = Setup(t.Context(), SetupOptions{Source: g.dir, Destination: path, Force: true})
	var failed *RuntimeError
	require.True(t, errors.As(err, &failed), "%v", err)
	assert.ErrorContains(t, err, blob)
	assert.Empty(t, result.git("fsck", "--strict", "--no-dangling"), "what was there is unharmed")
	entries, err := os.ReadDir(base)
	require.NoError(t, err)
	assert.Len(t, entries, 2, "the result and its lock, nothing temporary")
}

func TestDistance(t *testing.T) {
	t.Parallel()
	for _, n := range []int64{1, 127, 128, 16511, 16512, 2113663, 2113664, 1 << 40} {
		got, length, err := readDistance(append(distance(n), 0xff))
		require.NoError(t, err)
		assert.Equal(t, n, got)
		assert.Len(t, distance(n), length)
	}
	for _, size := range []int64{0, 15, 16, 2047, 2048, 1 << 40} {
		kind, got, length, err := readHead(append(packHead(3, size), 0xff))
		require.NoError(t, err)
		assert.EqualValues(t, 3, kind)
		assert.Equal(t, size, got)
		assert.Len(t, packHead(3, size), length)
	}
	_, _, err := readDistance(nil)
	require.Error(t, err)
	_, _, _, err = readHead([]byte(strings.Repeat("\xff", 20)))
	require.Error(t, err)
}
