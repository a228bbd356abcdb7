package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

// writeTable writes rows in columns. On a terminal each row is cut to one line. The widest columns are cut first, so
// that the last column has room.
func writeTable(out io.Writer, rows [][]string) error {
	columns := columnsOf(out)
	var cut strings.Builder
	for line := range strings.Lines(inColumns(narrowed(rows, columns))) {
		cut.WriteString(cutTo(strings.TrimRight(line, "\n"), columns) + "\n")
	}
	_, err := io.WriteString(out, cut.String())
	return err
}

// least is the smallest width to which a column is cut or a text is wrapped.
const least = 16

// narrowed cuts the cells of the widest columns until the last column has room, or until no column can be cut.
func narrowed(rows [][]string, columns int) [][]string {
	widths := widthsOf(rows)
	last := len(widths) - 1
	if columns == 0 || last < 1 {
		return rows
	}
	others := widths[:last]
	over := min(widths[last], least) - columns
	for _, width := range others {
		over += width + gap
	}
	for ; over > 0; over-- {
		widest := slices.Index(others, slices.Max(others))
		if others[widest] <= least {
			break
		}
		others[widest]--
	}
	var cut [][]string
	for _, row := range rows {
		row = slices.Clone(row)
		for at := range row[:min(len(row), last)] {
			row[at] = cutTo(row[at], others[at])
		}
		cut = append(cut, row)
	}
	return cut
}

// widthsOf returns the width of each column, without the gap after it.
func widthsOf(rows [][]string) (widths []int) {
	for _, row := range rows {
		for at, cell := range row {
			if at == len(widths) {
				widths = append(widths, 0)
			}
			widths[at] = max(widths[at], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

// writeWhole writes rows in columns, and wraps the last column instead of cutting it.
func writeWhole(out io.Writer, rows [][]string) error {
	widths := widthsOf(rows)
	last := max(len(widths)-1, 0)
	columns := columnsOf(out)
	room := columns
	for _, width := range widths[:last] {
		room -= width + gap
	}
	if columns > 0 && room < least {
		return writeBelow(out, rows, last, columns)
	}
	var wrapped [][]string
	for _, row := range rows {
		if room <= 0 || len(row) <= last {
			wrapped = append(wrapped, row)
			continue
		}
		for i, line := range wrap(row[last], room) {
			if i > 0 {
				row = make([]string, last)
			}
			wrapped = append(wrapped, append(slices.Clone(row[:last]), line))
		}
	}
	_, err := io.WriteString(out, inColumns(wrapped))
	return err
}

// writeBelow writes the last column below the other columns, for terminals that are too narrow for all columns.
func writeBelow(out io.Writer, rows [][]string, last, columns int) error {
	var short [][]string
	for _, row := range rows {
		short = append(short, row[:min(len(row), last)])
	}
	var content strings.Builder
	lines := strings.SplitAfter(strings.TrimSuffix(inColumns(short), "\n"), "\n")
	for i, row := range rows {
		content.WriteString(strings.TrimSuffix(lines[i], "\n") + "\n")
		if len(row) <= last || row[last] == "" {
			continue
		}
		for _, line := range wrap(row[last], max(columns-gap, 1)) {
			content.WriteString(strings.Repeat(" ", gap) + line + "\n")
		}
	}
	_, err := io.WriteString(out, content.String())
	return err
}

// gap is the space between columns.
const gap = 3

func inColumns(rows [][]string) string {
	var content strings.Builder
	table := tabwriter.NewWriter(&content, 0, 8, gap, ' ', 0)
	for _, row := range rows {
		// A Builder returns no errors. Empty cells at the end stay, because a column ends at a row without it.
		_, _ = fmt.Fprintln(table, strings.Join(row, "\t"))
	}
	_ = table.Flush()
	var trimmed strings.Builder
	for line := range strings.Lines(content.String()) {
		trimmed.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return trimmed.String()
}

// wrap breaks a text into lines of at most the given number of columns, between words if possible.
func wrap(text string, columns int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= columns {
			line += " " + word
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		letters := []rune(word)
		for ; len(letters) > columns; letters = letters[columns:] {
			lines = append(lines, string(letters[:columns]))
		}
		line = string(letters)
	}
	return append(lines, line)
}
