package version_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/operkit/operkit/tools/release/internal/version"
)

func TestNext(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason, path, last string
		change             version.Change
		want               string
	}{
		{"nothing", "example.com/a", "v0.3.4", version.None, "v0.3.4"},
		{"v0, fixed", "example.com/a", "v0.3.4", version.Fixed, "v0.3.5"},
		{"v0, added", "example.com/a", "v0.3.4", version.Added, "v0.4.0"},
		{"v0, breaking: as much as something new", "example.com/a", "v0.3.4", version.Breaking, "v0.4.0"},
		{"v1, fixed", "example.com/a", "v1.9.9", version.Fixed, "v1.9.10"},
		{"v1, added", "example.com/a", "v1.9.9", version.Added, "v1.10.0"},
		{"v2, added", "example.com/a/v2", "v2.0.0", version.Added, "v2.1.0"},
		{"v1, breaking, and its path says so already", "example.com/a/v2", "v1.9.9", version.Breaking, "v2.0.0"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			got, err := version.Next(row.path, row.last, row.change)
			require.NoError(t, err)
			assert.Equal(t, row.want, got)
		})
	}
}

func TestNextErrors(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ reason, path, last, want string }{
		{"a breaking change needs another path", "example.com/a", "v1.2.3", "module example.com/a: it breaks callers of v1.2.3, so its path has to become example.com/a/v2: " +
			"change the path in go.mod and in imports, or don't break callers"},
		{"and again", "example.com/a/v2", "v2.2.3", "module example.com/a/v2: it breaks callers of v2.2.3, so its path has to become example.com/a/v3: " +
			"change the path in go.mod and in imports, or don't break callers"},
		{"no version", "example.com/a", "1.2.3", `version "1.2.3": want a version like v1.2.3`},
		{"short", "example.com/a", "v1.2", `version "v1.2": want a version like v1.2.3`},
		{"a pre-release", "example.com/a", "v1.2.3-rc.1", `version "v1.2.3-rc.1": want a version like v1.2.3`},
		{"nothing", "example.com/a", "", `version "": want a version like v1.2.3`},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			_, err := version.Next(row.path, row.last, version.Breaking)
			assert.EqualError(t, err, row.want)
		})
	}
	_, err := version.Next("example.com/a", "v1.99999999999999999999.0", version.Fixed)
	assert.ErrorContains(t, err, "value out of range")
}

func TestFirst(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "v0.1.0", version.First("example.com/a"))
	assert.Equal(t, "v2.0.0", version.First("example.com/a/v2"))
}

func TestLatest(t *testing.T) {
	t.Parallel()
	tags := []string{"v9.9.9", "a/v0.9.0", "a/v0.10.0", "a/v0.11.0-rc.1", "a/v0.12", "a/v2.0.0", "a/v2.1.0", "a/b/v7.0.0", "a/v", "ab/v5.0.0"}
	for _, row := range []struct{ reason, path, prefix, want string }{
		{"the highest, not the last", "example.com/a", "a/", "v0.10.0"},
		{"those of its major version alone", "example.com/a/v2", "a/", "v2.1.0"},
		{"those of a nested module alone", "example.com/a/b/v7", "a/b/", "v7.0.0"},
		{"none", "example.com/c", "c/", ""},
		{"the module of the root", "example.com/v9", "", "v9.9.9"},
	} {
		assert.Equal(t, row.want, version.Latest(row.path, row.prefix, tags), row.reason)
	}
}

// FuzzNext: what comes next is later, fits the path, and the next larger change is never an earlier version.
func FuzzNext(f *testing.F) {
	for _, last := range []string{"v0.1.0", "v1.2.3", "v2.0.0", "v0.0.0-x", "v1.2.3+meta", "v01.0.0"} {
		f.Add("example.com/a", last)
		f.Add("example.com/a/v2", last)
	}
	f.Fuzz(func(t *testing.T, path, last string) {
		before := last
		for _, change := range []version.Change{version.Fixed, version.Added, version.Breaking} {
			next, err := version.Next(path, last, change)
			if err != nil {
				return
			}
			assert.Positive(t, semver.Compare(next, last), "%s comes after %s", next, last)
			assert.GreaterOrEqual(t, semver.Compare(next, before), 0, "%s: %s after %s", change, next, before)
			if before = next; semver.Major(next) != semver.Major(last) {
				assert.NoError(t, module.Check(path, next))
			}
		}
	})
}
