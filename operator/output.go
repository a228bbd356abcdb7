package operator

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"
)

// view is what a command shows: as a table for people, or as a document for programs.
type view interface {
	table(out io.Writer) error
	document() any
}

// output is how a command shows what it has to show.
type output struct{ format string }

func (o *output) flag(command *cobra.Command) {
	command.Flags().StringVarP(&o.format, "output", "o", "table", "table, yaml or json")
}

func (o *output) print(out io.Writer, v view) error {
	switch o.format {
	case "table":
		return v.table(out)
	case "json":
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(v.document())
	case "yaml":
		content, err := yamlOf(v)
		if err != nil {
			return err
		}
		_, err = out.Write(content)
		return err
	}
	return usage("--output %q: use table, yaml or json", o.format)
}

func yamlOf(v view) ([]byte, error) {
	if special, ok := v.(interface{ yaml() ([]byte, error) }); ok {
		return special.yaml()
	}
	return yaml.Marshal(v.document())
}

// writeTable writes rows, of which the first is the head, in columns. On a terminal each row is one line, cut to its width.
func writeTable(out io.Writer, rows [][]string) error {
	columns := columnsOf(out)
	var cut strings.Builder
	for line := range strings.Lines(inColumns(rows)) {
		cut.WriteString(cutTo(strings.TrimRight(line, "\n"), columns) + "\n")
	}
	_, err := io.WriteString(out, cut.String())
	return err
}

// least is how many columns a text needs to be wrapped in them.
const least = 16

// writeWhole is writeTable, but what is too long in the last column goes on below: nothing is lost.
func writeWhole(out io.Writer, rows [][]string) error {
	widths := map[int]int{}
	last := 0
	for _, row := range rows {
		last = max(last, len(row)-1)
	}
	for _, row := range rows {
		for at, cell := range row[:min(len(row), last)] {
			widths[at] = max(widths[at], utf8.RuneCountInString(cell)+gap)
		}
	}
	room := columnsOf(out)
	for _, width := range widths {
		room -= width
	}
	if columns := columnsOf(out); columns > 0 && room < least {
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

// writeBelow writes what is in the last column below the others: there is no room for it beside them.
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

// gap is what is between columns.
const gap = 3

func inColumns(rows [][]string) string {
	var content strings.Builder
	table := tabwriter.NewWriter(&content, 0, 8, gap, ' ', 0)
	for _, row := range rows {
		// What is written into a Builder never fails.
		_, _ = fmt.Fprintln(table, strings.TrimRight(strings.Join(row, "\t"), "\t "))
	}
	_ = table.Flush()
	return content.String()
}

// wrap breaks a text between words into lines of so many columns; a longer word is broken.
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
