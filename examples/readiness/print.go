package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/operkit/operkit/status/readiness"
)

// verdict is one object in the output for programs.
type verdict struct {
	Group     string          `json:"group,omitempty"`
	Kind      string          `json:"kind"`
	Namespace string          `json:"namespace,omitempty"`
	Name      string          `json:"name"`
	Status    readiness.State `json:"status"`
	Reason    string          `json:"reason"`
	Message   string          `json:"message"`
	// Fields are the paths of the decisive fields.
	Fields []string `json:"fields,omitempty"`
}

func (s settings) print(stdout io.Writer, results []readiness.Result) error {
	switch {
	case s.quiet:
		return nil
	case s.output == "json":
		return printJSON(stdout, results)
	default:
		return printTable(stdout, results)
	}
}

func printJSON(stdout io.Writer, results []readiness.Result) error {
	verdicts := make([]verdict, 0, len(results))
	for _, r := range results {
		verdicts = append(verdicts, verdict{
			Group: r.Object.Group, Kind: r.Object.Kind, Namespace: r.Object.Namespace, Name: r.Object.Name,
			Status: r.State, Reason: r.Reason, Message: r.Message, Fields: r.Fields,
		})
	}
	encoder := json.NewEncoder(stdout)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(verdicts)
}

func printTable(stdout io.Writer, results []readiness.Result) error {
	table := tabwriter.NewWriter(stdout, 0, 0, 3, ' ', 0)
	if _, err := fmt.Fprintln(table, "NAME\tSTATUS\tREASON\tMESSAGE"); err != nil {
		return err
	}
	for _, r := range results {
		_, err := fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", oneLine(r.Object.String()), r.State, oneLine(r.Reason), oneLine(r.Message))
		if err != nil {
			return err
		}
	}
	return table.Flush()
}

// oneLine makes an object's text fit into a table: the text may have several lines, or control characters for
// terminals.
func oneLine(text string) string {
	printable := func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}
	return strings.Map(printable, strings.Join(strings.Fields(text), " "))
}
