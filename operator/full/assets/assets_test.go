package assets_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/operkit/operkit/operator/full/assets"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/status"
	"github.com/operkit/operkit/vcs"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// reads returns a Setup that reads src/text.
func reads(text *string) func(context.Context, *reconcile.Session) error {
	return func(_ context.Context, s *reconcile.Session) error {
		content, err := fs.ReadFile(s.Assets(), "text")
		*text = string(content)
		return err
	}
}

func TestFilesOfVersions(t *testing.T) {
	t.Parallel()
	source := released(t)
	before := source.git("for-each-ref") + source.git("status", "--porcelain")
	a, base, err := source.open(nil)
	require.NoError(t, err)
	for _, row := range []struct {
		reason, version, want string
	}{
		{"vcs 6, 13: the version that the resource says, in the directory of it", "1.0.0", "one"},
		{"vcs 8 (W11): a number however it is spelled", "1.0", "one"},
		{"a tag with a letter before it", "1.1.0", "one and a bit"},
		{"whoever writes the letter, too", "v1.1.0", "one and a bit"},
		{"a branch that has a number for a name", "2.0.0", "one and a bit"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			var text string
			require.NoError(t, reconciled(t, a, row.version, reads(&text)))
			assert.Equal(t, row.want, text)
		})
	}
	t.Run("vcs 6: an override counts whatever the resource says", func(t *testing.T) {
		t.Parallel()
		var text string
		require.NoError(t, reconciled(t, a, "1.0.0", reads(&text), reconcile.VersionOverride("1.1.0")))
		assert.Equal(t, "one and a bit", text)
	})
	t.Run("vcs 9: the numbers, ascending", func(t *testing.T) {
		t.Parallel()
		numbers, err := a.Versions(t.Context())
		require.NoError(t, err)
		assert.Equal(t, []string{"1.0.0", "1.1.0", "2.0.0"}, numbers)
	})
	t.Run("vcs 18, 20 (W5, W8): nothing is written into the source, nor is anything checked out in it", func(t *testing.T) {
		t.Parallel()
		var text string
		require.NoError(t, reconciled(t, a, "1.0.0", reads(&text)))
		assert.Equal(t, before, source.git("for-each-ref")+source.git("status", "--porcelain"))
		working, err := os.Getwd()
		require.NoError(t, err)
		assert.Equal(t, "assets", filepath.Base(working))
		info, err := os.Stat(filepath.Join(base, "1.0.0", "src", "text"))
		require.NoError(t, err)
		assert.Zero(t, info.Mode().Perm()&0o222, "W20: what is checked out can't be written")
	})
}

func TestVersionsThatAreNot(t *testing.T) {
	t.Parallel()
	source := released(t)
	a, base, err := source.open(nil)
	require.NoError(t, err)
	for _, row := range []struct {
		reason  string
		version any
		want    string
	}{
		{"none", "", "the resource names no version: choose one of 1.0.0, 1.1.0, 2.0.0"},
		{"one that isn't there", "3.0.0", `the repository has no version "3.0.0": choose one of 1.0.0, 1.1.0, 2.0.0`},
		{"vcs 8 (W11): a branch without a number", "main", `the repository has no version "main"`},
		{"W11: a full name", "refs/tags/1.0.0", `the repository has no version "refs/tags/1.0.0"`},
		{"W1: a way out", "../../etc", `the repository has no version "../../etc"`},
		{"an option", "-x", `the repository has no version "-x"`},
		{"a number of YAML", 1.5, "spec.version is no text: quote it"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			err := reconciled(t, a, row.version, func(context.Context, *reconcile.Session) error {
				t.Error("Setup is called")
				return nil
			})
			require.ErrorContains(t, err, row.want)
			assert.Equal(t, status.ErrorConfig, request.ClassOf(err), "vcs 21")
		})
	}
	t.Run("vcs 7, 17: nothing is checked out for them", func(t *testing.T) {
		_, err := os.Stat(base)
		assert.ErrorIs(t, err, fs.ErrNotExist)
	})
	t.Run("vcs 13 (W9): the version has no such directory", func(t *testing.T) {
		t.Parallel()
		a, _, err := source.open(func(o *assets.Options) { o.Directory = "lib" })
		require.NoError(t, err)
		var text string
		err = reconciled(t, a, "1.0.0", reads(&text))
		require.ErrorContains(t, err, "the version has no such directory")
		assert.Equal(t, status.ErrorConfig, request.ClassOf(err))
	})
	t.Run("tags alone", func(t *testing.T) {
		t.Parallel()
		a, _, err := source.open(func(o *assets.Options) { o.TagsOnly = true })
		require.NoError(t, err)
		var text string
		require.ErrorContains(t, reconciled(t, a, "2.0.0", reads(&text)), "choose one of 1.0.0, 1.1.0")
	})
}

// vcs 3, 4: kinds that have no version.
func TestExempt(t *testing.T) {
	t.Parallel()
	source := released(t)
	none := func(_ context.Context, s *reconcile.Session) error {
		assert.Nil(t, s.Assets())
		return nil
	}
	for _, row := range []struct {
		reason, kind string
		exempt       []string
		want         string
	}{
		{"vcs 3: temporary patches by themselves", "TemporaryPatch", nil, ""},
		{"vcs 4: those that somebody names", "Shop", []string{"Sh*"}, ""},
		{"all others have one", "Shop", nil, "the resource names no version"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			a, _, err := source.open(func(o *assets.Options) { o.Exempt = row.exempt })
			require.NoError(t, err)
			err = reconciledAs(t, a, schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: row.kind}, "", none)
			if row.want == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, row.want)
			}
		})
	}
}

// A release that comes later is found; a branch that moves is another folder, and the one before stays as it was (W5).
func TestWhatMoves(t *testing.T) {
	t.Parallel()
	source := released(t)
	a, base, err := source.open(nil)
	require.NoError(t, err)
	var text string
	require.NoError(t, reconciled(t, a, "2.0.0", reads(&text)))
	assert.Equal(t, "one and a bit", text)
	source.git("branch", "-f", "2.0.0", "main")
	require.NoError(t, reconciled(t, a, "2.0.0", reads(&text)))
	assert.Equal(t, "main", text)
	source.git("tag", "3.0.0")
	require.NoError(t, reconciled(t, a, "3.0.0", reads(&text)))
	assert.Equal(t, "main", text)

	folders, err := filepath.Glob(base + "/[0-9]*")
	require.NoError(t, err)
	assert.Len(t, folders, 3)
	t.Run("W18: what nobody wants any more is removed, what somebody uses isn't", func(t *testing.T) {
		require.NoError(t, reconciled(t, a, "3.0.0", func(ctx context.Context, _ *reconcile.Session) error {
			removed, err := a.Prune(ctx, func(string) bool { return false })
			assert.Len(t, removed, 2)
			return err
		}))
		left, err := filepath.Glob(base + "/[0-9]*")
		require.NoError(t, err)
		assert.Equal(t, []string{filepath.Join(base, "3.0.0")}, left)
	})
}

// W20: several versions at once, in sessions of one process.
func TestSeveralAtOnce(t *testing.T) {
	t.Parallel()
	source := released(t)
	a, _, err := source.open(nil)
	require.NoError(t, err)
	want := map[string]string{"1.0.0": "one", "1.1.0": "one and a bit"}
	var running sync.WaitGroup
	for i := range 20 {
		version := []string{"1.0.0", "1.1.0"}[i%2]
		running.Go(func() {
			var text string
			if assert.NoError(t, reconciled(t, a, version, reads(&text))) {
				assert.Equal(t, want[version], text)
			}
		})
	}
	running.Wait()
}

// vcs 2: all that is wrong is said at the start.
func TestOpen(t *testing.T) {
	t.Parallel()
	source := released(t)
	for _, row := range []struct {
		reason string
		change func(o *assets.Options)
		want   string
	}{
		{"vcs 2: no repository", func(o *assets.Options) { o.Repository = "" }, "versions: no repository is given"},
		{"vcs 14: a folder that is none", func(o *assets.Options) { o.Repository = filepath.Dir(o.Repository) }, "open "},
		{"vcs 2: no destination", func(o *assets.Options) { o.Destination = "" }, "template"},
		{"a template that is none", func(o *assets.Options) { o.Destination = "/v/{version" }, "isn't closed"},
		{"vcs 2: a method that there isn't", func(o *assets.Options) { o.Method = "copy" }, `method "copy": use worktree or clone`},
		{"a directory out of the version", func(o *assets.Options) { o.Directory = "../src" }, `directory "../src": must be a path within the version`},
		{"a pattern that is none", func(o *assets.Options) { o.Exempt = []string{"[a"} }, `exempt "[a"`},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			_, _, err := source.open(row.change)
			require.ErrorContains(t, err, row.want)
		})
	}
	t.Run("all at once", func(t *testing.T) {
		t.Parallel()
		_, err := assets.Open(t.Context(), assets.Options{Method: "copy"})
		for _, want := range []string{"no repository", "template", "method"} {
			require.ErrorContains(t, err, want)
		}
	})
	t.Run("by clone", func(t *testing.T) {
		t.Parallel()
		a, base, err := source.open(func(o *assets.Options) { o.Method = vcs.Clone })
		require.NoError(t, err)
		var text string
		require.NoError(t, reconciled(t, a, "1.0.0", reads(&text)))
		assert.Equal(t, "one", text)
		assert.DirExists(t, filepath.Join(base, "1.0.0", ".git"))
	})
}
