package deploy

import (
	"fmt"
	"slices"
	"strings"
)

// contextLines is the number of unchanged lines around a change.
const contextLines = 3

// unified returns the unified diff of two texts, as `diff -u` prints it, under the given names. It returns "" if the
// texts are equal.
func unified(fromName, toName, from, to string) string {
	if from == to {
		return ""
	}
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", fromName, toName)
	for _, h := range hunks(lineEdits(splitLines(from), splitLines(to))) {
		h.write(&out)
	}
	return out.String()
}

// splitLines keeps line ends, so that a missing newline at the end is a difference.
func splitLines(text string) []string { return slices.Collect(strings.Lines(text)) }

// lineEdit is one line of a diff: kept (' '), removed ('-') or added ('+').
type lineEdit struct {
	op   byte
	line string
}

// hunk is a run of edits. from and to are the numbers, from 0, of its first lines in the two texts.
type hunk struct {
	from, to int
	edits    []lineEdit
}

// hunks groups the changes, with lines of context.
func hunks(edits []lineEdit) []hunk {
	var found []hunk
	from, to, end := 0, 0, 0 // end of the last hunk
	for i, e := range edits {
		if e.op != ' ' {
			if start := max(i-contextLines, end); len(found) == 0 || start > end {
				// All earlier edits of this hunk are context lines, which exist in both texts.
				found = append(found, hunk{from: from - (i - start), to: to - (i - start)})
				end = start
			}
			last := &found[len(found)-1]
			until := min(i+1+contextLines, len(edits))
			last.edits = append(last.edits, edits[end:max(until, end)]...)
			end = max(until, end)
		}
		if e.op != '+' {
			from++
		}
		if e.op != '-' {
			to++
		}
	}
	return found
}

func (h hunk) write(out *strings.Builder) {
	counts := map[byte]int{}
	for _, e := range h.edits {
		counts[e.op]++
	}
	fmt.Fprintf(out, "@@ -%s +%s @@\n", span(h.from, counts[' ']+counts['-']), span(h.to, counts[' ']+counts['+']))
	for _, e := range h.edits {
		out.WriteByte(e.op)
		out.WriteString(e.line)
		if !strings.HasSuffix(e.line, "\n") {
			out.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// span formats the range of lines of one side. If there are no lines, it formats the number of the line before the
// range.
func span(start, count int) string {
	switch count {
	case 0:
		return fmt.Sprintf("%d,0", start)
	case 1:
		return fmt.Sprint(start + 1)
	}
	return fmt.Sprintf("%d,%d", start+1, count)
}
