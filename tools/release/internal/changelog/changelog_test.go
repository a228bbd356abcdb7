package changelog_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/operkit/operkit/tools/release/internal/changelog"
	"github.com/operkit/operkit/tools/release/internal/version"
)

var day = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)

func TestUnreleased(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ reason, text, want string }{
		{"up to the next version", "# Changelog\n\n## Unreleased\n\n### Added\n\n- A thing.\n\n## v0.1.0 - 2026-01-01\n\n- Old.\n", "### Added\n\n- A thing."},
		{"up to the end", "## Unreleased\n- A thing.", "- A thing."},
		{"as others write it", "## [unreleased]  \r\n\r\n- A thing.\r\n", "- A thing."},
		{"empty", "# Changelog\n\n## Unreleased\n\n## v0.1.0\n", ""},
		{"none", "# Changelog\n\nNothing is unreleased.\n", ""},
		{"a heading of another level", "### Unreleased\n\n- A thing.\n", ""},
		{"the first one counts", "## Unreleased\n- A.\n## Unreleased\n- B.\n", "- A."},
		{"no file", "", ""},
	} {
		assert.Equal(t, row.want, changelog.Unreleased(row.text), row.reason)
	}
}

func TestChange(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		text string
		want version.Change
	}{
		{"", version.None},
		{"- A thing.", version.None},
		{"### Fixed\n\n- Added a thing.", version.None},
		{"### Changed\n\n### Added\n", version.Added},
		{"### added", version.Added},
		{"### Removed\r\n\n### Added\n", version.Breaking},
		{"### Added, removed", version.None},
	} {
		assert.Equal(t, row.want, changelog.Change(row.text), row.text)
	}
}

func TestRelease(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ reason, text, want string }{
		{
			"its text becomes that of the version", "# Changelog\n\n## Unreleased\n\n- New.\n\n## v0.1.0 - 2026-01-01\n\n- Old.\n",
			"# Changelog\n\n## Unreleased\n\n## v0.2.0 - 2026-05-04\n\n- New.\n\n## v0.1.0 - 2026-01-01\n\n- Old.\n",
		},
		{"without a text", "# Changelog\n\n## Unreleased\n", "# Changelog\n\n## Unreleased\n\n## v0.2.0 - 2026-05-04\n\n- Otherwise.\n"},
		{
			"without the section: before all others", "# Changelog\n\n## v0.1.0\n\n- Old.\n",
			"# Changelog\n\n## Unreleased\n\n## v0.2.0 - 2026-05-04\n\n- Otherwise.\n\n## v0.1.0\n\n- Old.\n",
		},
		{"without any", "# Changelog", "# Changelog\n\n## Unreleased\n\n## v0.2.0 - 2026-05-04\n\n- Otherwise.\n"},
		{"without a word", "", "## Unreleased\n\n## v0.2.0 - 2026-05-04\n\n- Otherwise.\n"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, row.want, changelog.Release(row.text, "v0.2.0", day, "- Otherwise."))
		})
	}
}

// FuzzRelease: nothing that somebody wrote is lost, and what is released isn't unreleased any more.
func FuzzRelease(f *testing.F) {
	for _, text := range []string{"", "# Changelog\n\n## Unreleased\n\n- New.\n\n## v0.1.0\n- Old.\n", "## [Unreleased]", "##\tUnreleased\r\n\r\n## x", "a\n## b\n## Unreleased\nc"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		body := changelog.Unreleased(text)
		released := changelog.Release(text, "v0.2.0", day, "- Otherwise.")
		assert.Empty(t, changelog.Unreleased(released))
		assert.Contains(t, released, "\n## v0.2.0 - 2026-05-04\n\n")
		rest := released
		for line := range strings.Lines(text) {
			line = strings.TrimRight(line, "\r\n")
			if line == "" || strings.Contains(strings.ToLower(line), "unreleased") {
				continue
			}
			_, after, found := strings.Cut(rest, line)
			assert.True(t, found, "%q is there, and in its place", line)
			rest = after
		}
		if body == "" {
			assert.Contains(t, released, "- Otherwise.")
		}
		again := changelog.Release(released, "v0.3.0", day, "- Later.")
		assert.Contains(t, again, "- Later.")
	})
}
