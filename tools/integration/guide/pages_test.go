package guide

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTesting(t *testing.T) {
	t.Parallel()
	walk(t, "testing.md")
}

func TestTemporaryPatches(t *testing.T) {
	t.Parallel()
	walk(t, "temporary-patches.md")
}

func TestVersions(t *testing.T) {
	t.Parallel()
	temporary := t.TempDir()
	t.Cleanup(func() { // what is checked out is read-only
		assert.NoError(t, filepath.WalkDir(temporary, func(path string, entry os.DirEntry, err error) error {
			if err == nil && entry.IsDir() {
				err = os.Chmod(path, 0o700)
			}
			return err
		}))
	})
	walk(t, "versions.md", "TMPDIR="+temporary)
}

// The guide links to this example.
func TestDatabaseExample(t *testing.T) {
	t.Parallel()
	walk(t, "../../examples/database/README.md")
}

// The rows about settings are some of those of package config, which holds its own against the program.
func TestOper8Settings(t *testing.T) {
	t.Parallel()
	all, err := os.ReadFile(filepath.Join(root, "operator/config/README.md"))
	require.NoError(t, err)
	_, section, found := strings.Cut(page(t, "from-oper8.md"), "\n## Settings\n")
	require.True(t, found)
	rows := 0
	for line := range strings.Lines(section) {
		if strings.HasPrefix(line, "| `") {
			assert.Contains(t, string(all), line)
			rows++
		}
	}
	assert.Greater(t, rows, 15)
}

var (
	// code is a block or a piece of code, in which brackets are type parameters.
	code     = regexp.MustCompile("(?ms)^```.*?^```|`[^`\n]+`")
	links    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	headings = regexp.MustCompile(`(?m)^#+ (.*)$`)
	symbols  = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// anchors are those of the headings of a page.
func anchors(text string) map[string]bool {
	found := map[string]bool{}
	for _, heading := range headings.FindAllStringSubmatch(text, -1) {
		found[strings.ReplaceAll(strings.ToLower(symbols.ReplaceAllString(heading[1], "")), " ", "-")] = true
	}
	return found
}

// The picture of the page is the one that a test of package explore draws.
func TestPicture(t *testing.T) {
	t.Parallel()
	drawn, err := os.ReadFile(filepath.Join(root, "reconcile/reconciletest/explore/testdata/guide/states.svg"))
	require.NoError(t, err)
	assert.Equal(t, string(drawn), page(t, "finding-faults.svg"), "copy states.svg to finding-faults.svg")
}

func TestLinks(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob(filepath.Join(pages, "*.md"))
	require.NoError(t, err)
	var read []string
	for _, name := range names {
		if !strings.HasPrefix(filepath.Base(name), "from-") {
			read = append(read, name)
		}
	}
	assert.LessOrEqual(t, len(read), 1+10, "a guide of at most ten pages, besides its README and the pages for those who move")
	contents := page(t, "README.md")
	for _, name := range names {
		base := filepath.Base(name)
		assert.True(t, base == "README.md" || strings.Contains(contents, "]("+base+")"), "%s is in the table of contents", base)
		text := code.ReplaceAllString(page(t, base), "")
		for _, link := range links.FindAllStringSubmatch(text, -1) {
			if strings.HasPrefix(link[1], "https://") {
				continue
			}
			file, anchor, _ := strings.Cut(link[1], "#")
			target := name
			if file != "" {
				target = filepath.Join(pages, file)
			}
			info, err := os.Stat(target)
			if !assert.NoError(t, err, "%s links to %s", base, link[1]) || anchor == "" {
				continue
			}
			if info.IsDir() {
				target = filepath.Join(target, "README.md")
			}
			linked, err := os.ReadFile(target)
			require.NoError(t, err)
			assert.True(t, anchors(string(linked))[anchor], "%s links to %s: there is no such heading", base, link[1])
		}
	}
}
