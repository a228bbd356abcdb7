package vcs

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// vcs 27 is otherwise here: a repository without versions helps nobody, and most often an expression is wrong.
func TestSetupWithoutMatch(t *testing.T) {
	t.Parallel()
	g := shipped(t)
	g.git("branch", "3.0.0")
	g.git("tag", "of-a-tree", "HEAD^{tree}")
	destination := filepath.Join(t.TempDir(), "new")
	for _, row := range []struct {
		reason  string
		options SetupOptions
		want    string
	}{
		{
			"vcs 27: names that have a part that matches come first", SetupOptions{Tags: []string{`9\.9\.9`}},
			"no expression matches any of the 5 tags and 3 branches of the source, such as tag 9.9.9-rc1, ",
		},
		{"vcs 27: in capitals or not", SetupOptions{Tags: []string{`V2\.0\.0`}}, "such as tag v2.0.0, "},
		{"vcs 27: of the other kind", SetupOptions{Tags: []string{`3\.0\.0`}}, "such as branch 3.0.0 (an expression for the other kind matches it), "},
		{"vcs 27: spelled nearly so", SetupOptions{Tags: []string{}, Branches: []string{"relaese/x"}}, "such as branch release/x, "},
		{"vcs 27: what is in the way", SetupOptions{Tags: []string{"of.*"}}, "such as tag of-a-tree (it points to a tree and not to a commit), "},
	} {
		t.Run(row.reason, func(t *testing.T) {
			row.options.Source, row.options.Destination = g.dir, destination
			_, err := Setup(t.Context(), row.options)
			var none *NoMatchError
			require.True(t, errors.As(err, &none), "%v", err)
			var config *ConfigError
			require.True(t, errors.As(err, &config))
			assert.ErrorContains(t, err, row.want)
			assert.NoDirExists(t, destination)
		})
	}
	for i := range 200 {
		g.ref(fmt.Sprintf("nightly-%03d", i), g.git("rev-parse", "HEAD"))
	}
	_, err := Setup(t.Context(), SetupOptions{Source: g.dir, Destination: destination, Tags: []string{"nightly-1999"}})
	var none *NoMatchError
	require.True(t, errors.As(err, &none), "%v", err)
	assert.Equal(t, 205, none.Tags)
	assert.Len(t, none.Near, maxNear)
	assert.Equal(t, []string{"tag nightly-199", "tag nightly-099"}, none.Near[:2])
}

func TestSetupOfPartialClones(t *testing.T) {
	t.Parallel()
	g := shipped(t)
	g.git("config", "uploadpack.allowFilter", "true")
	shallow := &gitRepository{t, filepath.Join(t.TempDir(), "shallow")}
	g.git("clone", "-q", "--depth=1", "--no-tags", "file://"+g.dir, shallow.dir)
	_, err := Setup(t.Context(), SetupOptions{Source: shallow.dir, Destination: filepath.Join(t.TempDir(), "new")})
	var none *NoMatchError
	require.True(t, errors.As(err, &none), "%v", err)
	assert.ErrorContains(t, err, "it is a shallow clone: fetch the tags with 'git fetch --tags'")
	shallow.git("fetch", "-q", "--tags", "--depth=1")
	result, report := shallow.setup(SetupOptions{Verify: true})
	assert.Equal(t, []string{"1.1.0", "1.2.0", "v2.0.0"}, report.names(), "no history is needed")
	assert.Empty(t, result.git("fsck", "--strict", "--no-dangling"))
	partial := &gitRepository{t, filepath.Join(t.TempDir(), "partial")}
	g.git("clone", "-q", "--bare", "--filter=blob:none", "file://"+g.dir, partial.dir)
	_, err = Setup(t.Context(), SetupOptions{Source: partial.dir, Destination: filepath.Join(t.TempDir(), "new")})
	assert.ErrorContains(t, err, " is a partial clone, which has only some of its objects: clone all of it")
}

func TestEdits(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		from, to string
		want     int
	}{{"", "", 0}, {"abc", "abc", 0}, {"", "abc", 3}, {"abc", "", 3}, {`1\.2`, "1.2", 0}, {"kitten", "sitting", 3}, {"ä", "a", 1}} {
		assert.Equal(t, row.want, edits(row.from, row.to), "%q %q", row.from, row.to)
	}
}
