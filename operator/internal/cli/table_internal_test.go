package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWrap(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason, text string
		columns      int
		want         []string
	}{
		{"between words", "the quick brown fox", 10, []string{"the quick", "brown fox"}},
		{"as long as it may be", "abcd efgh", 9, []string{"abcd efgh"}},
		{"a word that is too long", "a abcdefghijkl b", 5, []string{"a", "abcde", "fghij", "kl b"}},
		{"letters, not bytes", "ää öö üü", 5, []string{"ää öö", "üü"}},
		{"nothing", "", 5, []string{""}},
	} {
		assert.Equal(t, row.want, wrap(row.text, row.columns), row.reason)
	}
}

func TestTables(t *testing.T) {
	t.Parallel()
	rows := [][]string{{"NAME", "MESSAGE"}, {"web", "waits for redis, which waits for a volume"}, {"a", ""}}
	table := func(write func(out *paper) error, columns int) string {
		var content strings.Builder
		require.NoError(t, write(&paper{&content, columns}))
		return content.String()
	}
	cut := func(out *paper) error { return writeTable(*out, rows) }
	whole := func(out *paper) error { return writeWhole(*out, rows) }
	plain := "NAME   MESSAGE\nweb    waits for redis, which waits for a volume\na\n"
	assert.Equal(t, plain, table(cut, 0), "elsewhere than on a terminal nothing is cut")
	assert.Equal(t, plain, table(whole, 0))
	assert.Equal(t, "NAME   MESSAGE\nweb    waits for redis,…\na\n", table(cut, 24))
	assert.Equal(t, "NAME   MESSAGE\nweb    waits for redis,\n       which waits for a\n       volume\na\n", table(whole, 24))
	assert.Equal(t, "NAME\n   MESSAGE\nweb\n   waits for redis,\n   which waits for a\n   volume\na\n", table(whole, 20), "what has too little room beside the others is below them")
	rows = [][]string{{"Version", "1.2.3"}, {"Name", "a name that is too long"}}
	assert.Equal(t, "Version\n   1.2.3\nName\n   a name that is too\n   long\n", table(whole, 22), "the first row is no head everywhere")
	assert.Equal(t, "a", cutTo("a", 1))
	assert.Equal(t, "…", cutTo("ab", 1))
}

func TestNarrowed(t *testing.T) {
	t.Parallel()
	const message = "waits for redis, which waits for a volume"
	long := strings.Repeat("n", 50)
	for _, row := range []struct {
		reason  string
		columns int
		cells   []string
		want    []string
	}{
		{"elsewhere than on a terminal nothing is cut", 0, []string{long, "False", message}, []string{long, "False", message}},
		{"what has room stays whole", 100, []string{long, "False", message}, []string{long, "False", message}},
		{"a long name leaves room for the message", 60, []string{long, "False", message}, []string{strings.Repeat("n", 32) + "…", "False", message}},
		{"a short last column needs no more than it is", 60, []string{long, "False", "5m"}, []string{strings.Repeat("n", 46) + "…", "False", "5m"}},
		{"the widest is cut first", 60, []string{long, strings.Repeat("r", 20), message}, []string{strings.Repeat("n", 18) + "…", strings.Repeat("r", 18) + "…", message}},
		{"something is left of each", 20, []string{long, "False", message}, []string{strings.Repeat("n", 15) + "…", "False", message}},
		{"letters, not bytes", 60, []string{strings.Repeat("ä", 50), "False", message}, []string{strings.Repeat("ä", 32) + "…", "False", message}},
		{"one column has no other to be cut", 20, []string{long}, []string{long}},
	} {
		given := slices.Clone(row.cells)
		assert.Equal(t, [][]string{row.want}, narrowed([][]string{row.cells}, row.columns), row.reason)
		assert.Equal(t, given, row.cells, "what was given is as it was: %s", row.reason)
	}
	rows := [][]string{{"NAME", "READY", "MESSAGE"}, {long, "False", message}, {"short"}}
	assert.Equal(t, [][]string{{"NAME", "READY", "MESSAGE"}, {strings.Repeat("n", 32) + "…", "False", message}, {"short"}}, narrowed(rows, 60), "a row may end early")
	assert.Empty(t, narrowed(nil, 60))
}

func TestOneLine(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "a; b; c d", oneLine("a\nb\r\nc\td"))
	assert.Equal(t, "red \uFFFD[31m, a bell \uFFFD, back \uFFFD, \uFFFD", oneLine("red \x1b[31m, a bell \a, back \b, \u009b"), "what somebody else wrote is no command for the terminal")
}
