package report

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Trap is the behaviour of an operator in one trap.
type Trap struct {
	// Name is the correct behaviour, such as "a user's label stays".
	Name string `json:"name"`
	// Operator is the tested operator.
	Operator string `json:"operator"`
	// Holds reports whether the operator behaves correctly.
	Holds bool `json:"holds"`
	// Evidence describes what was observed, such as the final object or the number of writes. It may be Markdown.
	Evidence string `json:"evidence"`
}

// TrapTable writes a Markdown table with a line for each trap and a column for each operator, in the order in which
// they first appear, and the evidence below it. An operator without a result has a "-". A result without evidence is an
// error, and so is a duplicate result.
func TrapTable(w io.Writer, traps []Trap) error {
	var names, operators []string
	for i, trap := range traps {
		if err := trap.check(traps[:i]); err != nil {
			return fmt.Errorf("trap %q: %s: %w", trap.Name, trap.Operator, err)
		}
		if !slices.Contains(names, trap.Name) {
			names = append(names, trap.Name)
		}
		if !slices.Contains(operators, trap.Operator) {
			operators = append(operators, trap.Operator)
		}
	}
	if len(traps) == 0 {
		return errors.New("traps: there are none: a table without lines would look as if all held")
	}
	var table, evidence bytes.Buffer
	tableHead(&table, append([]string{"trap"}, operators...))
	for _, name := range names {
		cells := []string{name}
		fmt.Fprintf(&evidence, "- %s\n", oneLine(name))
		for _, operator := range operators {
			trap, asked := answer(traps, name, operator)
			if asked {
				fmt.Fprintf(&evidence, "  - %s, %s: %s\n", operator, trap.verdict(), oneLine(trap.Evidence))
			}
			cells = append(cells, trap.verdict())
		}
		tableLine(&table, cells)
	}
	_, err := fmt.Fprintf(w, "%s\nEvidence:\n\n%s", table.Bytes(), evidence.Bytes())
	return err
}

func (t Trap) check(before []Trap) error {
	switch _, twice := answer(before, t.Name, t.Operator); {
	case t.Name == "" || t.Operator == "":
		return errors.New("a trap needs a name and an operator")
	case strings.TrimSpace(t.Evidence) == "":
		return errors.New("no evidence: say what was seen")
	case twice:
		return errors.New("it is answered twice: keep one answer")
	}
	return nil
}

func (t Trap) verdict() string {
	switch {
	case t.Name == "":
		return "-"
	case t.Holds:
		return "yes"
	}
	return "no"
}

func answer(traps []Trap, name, operator string) (Trap, bool) {
	i := slices.IndexFunc(traps, func(t Trap) bool { return t.Name == name && t.Operator == operator })
	if i < 0 {
		return Trap{}, false
	}
	return traps[i], true
}

// oneLine returns a text on one line, for an item of a list.
func oneLine(text string) string {
	return strings.Join(strings.Fields(text), " ")
}
