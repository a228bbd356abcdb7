package report

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
)

// Lines writes a line for each row and reports whether all goals are met.
//
//	RATIO <name> <ours/peer> goal <bound> <ok|MISSED> [ranges overlap]
//	COUNT <name> <got> goal <bound> <ok|MISSED>
//	RATIO|COUNT <name> <got> reported [ranges overlap]
//	ERROR <name>: <what is missing>
//
// Values have three digits after the point, unless they are whole numbers or at least 1000. They are compared with the
// goal before they are rounded. A row with an error doesn't meet its goal, even if it is only reported.
func (r Report) Lines(w io.Writer) (met bool, err error) {
	results, err := r.Results()
	if err != nil {
		return false, err
	}
	var text bytes.Buffer
	met = true
	for _, result := range results {
		met = met && result.Met
		text.WriteString(result.line())
	}
	_, err = w.Write(text.Bytes())
	return met && err == nil, err
}

func (r Result) line() string {
	if r.Err != nil {
		return fmt.Sprintf("ERROR %v\n", r.Err)
	}
	verdict := "reported"
	if !r.Row.Reported {
		verdict = "goal " + r.Row.bound() + " " + r.verdict()
	}
	if r.Overlap {
		verdict += " ranges overlap"
	}
	return fmt.Sprintf("%s %s %s %s\n", r.Row.Kind, r.Row.Name, rounded(r.Value), verdict)
}

func (r Result) verdict() string {
	if r.Met {
		return "ok"
	}
	return "MISSED"
}

func (r Row) bound() string {
	return strconv.FormatFloat(r.Goal, 'f', -1, 64)
}
