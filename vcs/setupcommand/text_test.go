package setupcommand

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/operkit/operkit/vcs"
	"github.com/stretchr/testify/assert"
)

func TestSizesAndTimes(t *testing.T) {
	t.Parallel()
	for bytes, want := range map[int64]string{
		0: "0 bytes", 1: "1 byte", 999: "999 bytes", 1000: "1.0 kB", 1949: "1.9 kB", 9949: "9.9 kB", 9950: "10 kB", 999_499: "999 kB", 999_500: "1.0 MB",
		56 << 20: "59 MB", 5_000_000_000: "5.0 GB", 3_000_000_000_000_000: "3000 TB",
	} {
		assert.Equal(t, want, size(bytes))
	}
	for took, want := range map[time.Duration]string{
		1234567 * time.Nanosecond: "1ms", 999 * time.Millisecond: "999ms", 1234 * time.Millisecond: "1.2s", 61234 * time.Millisecond: "1m1s",
	} {
		assert.Equal(t, want, duration(took))
	}
}

func TestPrintable(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"1.2.0": "1.2.0", "größe/ü": "größe/ü", "a\x1b[2J": `a\x1b[2J`, "a\nb\tc\r": `a\nb\tc\r`, "\u202etxt": `\u202etxt`, "a\xffb": `a\xffb`, "\u0085": `\u0085`,
		"\x9b31m": `\x9b31m`, `back\slash`: `back\slash`, "�": "�",
	} {
		assert.Equal(t, want, printable(text))
	}
}

func FuzzPrintable(f *testing.F) {
	f.Add("a\x1b[31m\xff\u202e\n")
	f.Fuzz(func(t *testing.T, text string) {
		got := printable(text)
		assert.True(t, utf8.ValidString(got))
		for _, letter := range got {
			assert.True(t, letter >= ' ' && letter != 0x7f && (letter < 0x80 || letter > 0x9f), "%q", got)
		}
		assert.Equal(t, got, printable(got), "what is printable stays")
	})
}

// report is one of which names have the length that names may have.
func report(long int) vcs.Report {
	name := strings.Repeat("n", long)
	r := vcs.Report{Objects: 1234, Bytes: 5_600_000, SourceBytes: 9_000_000, Took: 1500 * time.Millisecond}
	for range 2 {
		r.Kept = append(r.Kept, vcs.Kept{Ref: vcs.Ref{Kind: vcs.Tag, Name: name}, Name: name, Commit: vcs.Commit(strings.Repeat("c", 40)), Tree: strings.Repeat("d", 40)})
	}
	for range 25 {
		r.Skipped = append(r.Skipped, vcs.Skipped{Ref: vcs.Ref{Kind: vcs.Branch, Name: name}, Reason: "no expression matches its name"})
	}
	return r
}

func TestTextFitsTheTerminal(t *testing.T) {
	t.Parallel()
	s := &settings{destination: "/var/lib/versions", verify: true}
	for _, columns := range []int{20, 40, 80, 200} {
		for _, long := range []int{5, 30, 255} {
			text := s.text(report(long), columns)
			for line := range strings.Lines(text) {
				line = strings.TrimSuffix(line, "\n")
				assert.LessOrEqual(t, utf8.RuneCountInString(line), columns, "%q", line)
				assert.Equal(t, strings.TrimRight(line, " "), line, "nothing is at the end of a line")
			}
			compact := strings.Join(strings.Fields(text), "")
			assert.Equal(t, 22, strings.Count(compact, strings.Repeat("n", long)+"tag")+strings.Count(compact, strings.Repeat("n", long)+"branch"), "no name is cut")
			assert.Contains(t, strings.Join(strings.Fields(text), " "), "and 5 more: -o json has all of them")
		}
	}
	assert.Contains(t, s.text(report(5), 0), "/var/lib/versions: 2 versions, 1234 objects, 5.6 MB (source: 9.0 MB), in 1.5s, verified\n")
}

func TestHelpFitsTheTerminal(t *testing.T) {
	t.Parallel()
	for _, columns := range []int{0, 40, 60, 80, 250} {
		page := help(New(), columns)
		_, after, found := strings.Cut(page, "\nExpressions:\n")
		assert.True(t, found)
		limit := columns
		if columns == 0 {
			limit = defaultColumns
		}
		for line := range strings.Lines(after) {
			assert.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), limit, "%q", line)
		}
		for _, row := range exitCodes {
			assert.Contains(t, strings.Join(strings.Fields(page), " "), row[0]+" "+row[1])
		}
		assert.NotContains(t, page, "[]", "no default that is none")
	}
}
