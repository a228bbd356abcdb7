package setupcommand

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// columnsOf is how many columns the terminal has that out is, 0 for what is no terminal.
func columnsOf(out io.Writer) int {
	file, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return 0
	}
	columns, _, err := term.GetSize(int(file.Fd()))
	if err != nil || columns <= 0 {
		return 0
	}
	return columns
}

// printable is a text in one line without anything that a terminal would do: what isn't printed is written as Go does it.
func printable(text string) string {
	var out strings.Builder
	for len(text) > 0 {
		letter, length := utf8.DecodeRuneInString(text)
		switch {
		case letter == utf8.RuneError && length == 1:
			fmt.Fprintf(&out, `\x%02x`, text[0])
		case unicode.IsPrint(letter):
			out.WriteString(text[:length])
		default:
			quoted := fmt.Sprintf("%+q", letter)
			out.WriteString(quoted[1 : len(quoted)-1])
		}
		text = text[length:]
	}
	return out.String()
}

const (
	// gap is what is between columns of a table, indent what is before what is below its first.
	gap    = 3
	indent = "  "
)

// table writes rows, of which the first is the head, in columns. Where there is no room for the longest one, the first cell of each has a line of
// its own and the others are below it.
func table(rows [][]string, columns int) string {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	total := gap * (len(widths) - 1)
	for _, width := range widths {
		total += width
	}
	var out strings.Builder
	for _, row := range rows {
		if columns == 0 || total <= columns {
			line := ""
			for i, cell := range row {
				line += cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+gap)
			}
			out.WriteString(strings.TrimRight(line, " ") + "\n")
			continue
		}
		for _, line := range wrap(row[0], columns) {
			out.WriteString(line + "\n")
		}
		for _, line := range wrap(strings.Join(row[1:], " "), columns-len(indent)) {
			out.WriteString(indent + line + "\n")
		}
	}
	return out.String()
}

// wrap breaks a text between words into lines of so many columns, 0 for as many as it takes; a longer word is broken.
func wrap(text string, columns int) (lines []string) {
	if columns <= 0 {
		return []string{text}
	}
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
