package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// Table writes a Markdown table with a line for each row and a column for each operator, whose cells are "median
// (min-max)". The last two columns are the ratio or the row's error, and the goal.
func (r Report) Table(w io.Writer) error {
	results, err := r.Results()
	if err != nil {
		return err
	}
	var text bytes.Buffer
	tableHead(&text, append(append([]string{"figure"}, r.Operators...), "ratio", "goal"))
	for _, result := range results {
		cells := []string{result.Row.heading()}
		for _, operator := range r.Operators {
			cell := "-"
			if s, there := result.Of(operator); there {
				cell = s.text(result.Row.Decimals, result.Rounds)
			}
			cells = append(cells, cell)
		}
		tableLine(&text, append(cells, result.ratioCell(), result.goalCell()))
	}
	_, err = w.Write(text.Bytes())
	return err
}

func (r Result) ratioCell() string {
	switch {
	case r.Err != nil:
		return fmt.Sprintf("error: %v", r.Err)
	case r.Row.Kind == Count:
		return "-"
	case r.Overlap:
		return fmt.Sprintf("%s of %s, ranges overlap", rounded(r.Value), r.Row.Peer)
	}
	return fmt.Sprintf("%s of %s", rounded(r.Value), r.Row.Peer)
}

func (r Result) goalCell() string {
	switch {
	case r.Row.Reported:
		return "-"
	case r.Err != nil:
		return r.Row.bound()
	}
	return r.Row.bound() + " " + r.verdict()
}

// tableHead writes the first two lines of a Markdown table: all columns except for the first contain numbers or
// verdicts.
func tableHead(text *bytes.Buffer, columns []string) {
	tableLine(text, columns)
	text.WriteString("|---|" + strings.Repeat("---:|", len(columns)-1) + "\n")
}

func tableLine(text *bytes.Buffer, cells []string) {
	for _, cell := range cells {
		text.WriteString("| " + tableCell.Replace(cell) + " ")
	}
	text.WriteString("|\n")
}

// tableCell escapes a text for a cell.
var tableCell = strings.NewReplacer("|", `\|`, "\r\n", " ", "\n", " ")
