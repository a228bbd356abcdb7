package deploy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestUnified(t *testing.T) {
	t.Parallel()
	numbers := func(from, to int) (out string) {
		for i := from; i <= to; i++ {
			out += fmt.Sprintln(i)
		}
		return out
	}
	for name, test := range map[string]struct{ from, to, want string }{
		"equal":             {"a\nb\n", "a\nb\n", ""},
		"both empty":        {"", "", ""},
		"a line changed":    {"a\nb\nc\n", "a\nx\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n"},
		"a new text":        {"", "a\nb\n", "@@ -0,0 +1,2 @@\n+a\n+b\n"},
		"a text gone":       {"a\n", "", "@@ -1 +0,0 @@\n-a\n"},
		"no line end":       {"a\nb", "a\nc", "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n"},
		"a line end more":   {"a", "a\n", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"},
		"context of three":  {numbers(1, 20), numbers(1, 9) + "x\n" + numbers(11, 20), "@@ -7,7 +7,7 @@\n 7\n 8\n 9\n-10\n+x\n 11\n 12\n 13\n"},
		"near: one hunk":    {numbers(1, 10), "1\n" + numbers(3, 8) + "10\n", "@@ -1,10 +1,8 @@\n 1\n-2\n 3\n 4\n 5\n 6\n 7\n 8\n-9\n 10\n"},
		"far: two hunks":    {numbers(1, 10), numbers(2, 9), "@@ -1,4 +1,3 @@\n-1\n 2\n 3\n 4\n@@ -7,4 +6,3 @@\n 7\n 8\n 9\n-10\n"},
		"the shortest way":  {"a\nb\nc\na\nb\nb\na\n", "c\nb\na\nb\na\nc\n", "@@ -1,7 +1,6 @@\n-a\n-b\n c\n+b\n a\n b\n-b\n a\n+c\n"},
		"a line moved down": {"a\nb\nc\nd\n", "b\nc\nd\na\n", "@@ -1,4 +1,4 @@\n-a\n b\n c\n d\n+a\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := test.want
			if want != "" {
				want = "--- old\n+++ new\n" + want
			}
			assert.Equal(t, want, unified("old", "new", test.from, test.to))
		})
	}
	t.Run("beyond the limit it is whole, and quick", func(t *testing.T) {
		t.Parallel()
		from, to := strings.Repeat("a\nb\n", 30000), ""
		for i := range 30000 {
			to += fmt.Sprint(i%7, "\nb\n")
			if len(to) > 150000 {
				break
			}
		}
		assert.Equal(t, to, patched(t, from, unified("old", "new", from, to)))
	})
}

// patched applies a unified diff to a text, as patch does.
func patched(t testing.TB, from, diff string) string {
	t.Helper()
	if diff == "" {
		return from
	}
	source := splitLines(from)
	var out strings.Builder
	at := 0
	lines := splitLines(strings.ReplaceAll(diff, "\n\\ No newline at end of file\n", "\x00"))
	require.True(t, strings.HasPrefix(lines[0], "--- ") && strings.HasPrefix(lines[1], "+++ "))
	for _, line := range lines[2:] {
		var parts []string
		for part := range strings.SplitAfterSeq(line, "\x00") {
			if part != "" {
				parts = append(parts, strings.TrimSuffix(part, "\x00"))
			}
		}
		for _, part := range parts {
			switch part[0] {
			case '@':
				var start int
				_, err := fmt.Sscanf(part, "@@ -%d", &start)
				require.NoError(t, err)
				if !strings.Contains(strings.Fields(part)[1], ",0") {
					start--
				}
				for ; at < start; at++ {
					out.WriteString(source[at])
				}
			case ' ', '-':
				require.Equal(t, source[at], part[1:])
				if part[0] == ' ' {
					out.WriteString(part[1:])
				}
				at++
			case '+':
				out.WriteString(part[1:])
			}
		}
	}
	return out.String() + strings.Join(source[at:], "")
}

// FuzzUnified: the diff makes the one text of the other, and is no longer than the two.
func FuzzUnified(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nx\nc\n")
	f.Add("a\nb\nc\na\nb\nb\na", "c\nb\na\nb\na\nc\n")
	f.Add("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "2\n3\n4\n5\n6\n7\n8\n9\n0")
	f.Add("", "\n\n")
	f.Fuzz(func(t *testing.T, from, to string) {
		if strings.ContainsAny(from+to, "\x00") {
			return
		}
		diff := unified("a", "b", from, to)
		require.Equal(t, to, patched(t, from, diff))
		kept := 0
		for _, e := range lineEdits(splitLines(from), splitLines(to)) {
			if e.op == ' ' {
				kept++
			}
		}
		if len(from)+len(to) < 400 {
			require.Equal(t, longestCommon(splitLines(from), splitLines(to)), kept, "it keeps as many lines as can be")
		}
	})
}

// longestCommon is the length of the longest common subsequence, by the textbook.
func longestCommon(a, b []string) int {
	row := make([]int, len(b)+1)
	for _, line := range a {
		diagonal := 0
		for j := range b {
			above := row[j+1]
			if line == b[j] {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(above, row[j])
			}
			diagonal = above
		}
	}
	return row[len(b)]
}
