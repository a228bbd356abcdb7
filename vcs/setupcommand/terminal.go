package setupcommand

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// columnsOf returns the width of a terminal, 0 if out isn't a terminal.
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

// printable returns a text as one line without control characters, which are escaped as in Go.
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
	// gap is the number of spaces between the columns of a table. indent is the space before continued lines.
	gap    = 3
	indent = "  "
)

// table returns rows as text in columns. The first row is the header. If the longest row doesn't fit, the first cell of
// each row gets its own line, and the other cells follow below it.
func table(rows [][]string, columns int) string {
	var out strings.Builder
	aligned := tabwriter.NewWriter(&out, 0, 0, gap, ' ', 0)
	for _, row := range rows {
		_, _ = fmt.Fprintln(aligned, strings.Join(row, "\t"))
	}
	_ = aligned.Flush()
	tooLong := func(line string) bool { return utf8.RuneCountInString(line) > columns }
	if columns == 0 || !slices.ContainsFunc(strings.Split(out.String(), "\n"), tooLong) {
		return out.String()
	}
	out.Reset()
	for _, row := range rows {
		for _, line := range wrap(row[0], columns) {
			out.WriteString(line + "\n")
		}
		for _, line := range wrap(strings.Join(row[1:], " "), columns-len(indent)) {
			out.WriteString(indent + line + "\n")
		}
	}
	return out.String()
}

// wrap breaks a text into lines between words. It also breaks words that are longer than a line. If columns is 0, it
// returns one line.
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
