package report

import (
	"errors"
	"fmt"
)

// Report is a set of rounds and the rows to show of them. Its methods don't change it.
type Report struct {
	// Operators are the operators to show, in this order. The first one is ours. Rounds of other operators are left
	// out.
	Operators []string
	// Rows are the figures that are shown, in this order.
	Rows []Row
	// Rounds are the rounds of all parts, in any order. Rounds with the same operator and number are merged; no figure
	// may occur twice in them.
	Rounds []Round
}

// Results computes each row, in order. A row without a result has an error in its [Result]. Results itself returns an
// error if the report is wrong.
func (r Report) Results() ([]Result, error) {
	if err := r.check(); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	results := make([]Result, 0, len(r.Rows))
	for _, row := range r.Rows {
		results = append(results, r.result(row))
	}
	return results, nil
}

func (r Report) check() error {
	switch {
	case len(r.Operators) == 0:
		return errors.New("no operators: name ours, and then those it is compared with")
	case len(r.Rows) == 0:
		return errors.New("no rows: without any, every goal would be met")
	}
	seen := map[string]bool{}
	for _, operator := range r.Operators {
		if seen[operator] {
			return fmt.Errorf("operator %s is named twice", operator)
		}
		seen[operator] = true
	}
	clear(seen)
	for _, row := range r.Rows {
		switch {
		case !plain.MatchString(row.Name):
			return fmt.Errorf("row %q: %w", row.Name, errName)
		case seen[row.Name]:
			return fmt.Errorf("row %s is there twice: each row needs a name of its own", row.Name)
		}
		seen[row.Name] = true
	}
	return nil
}

// measured is a figure of one operator in one round, divided by the Per of its row.
type measured struct {
	value   float64
	bundles int
}

// measured returns a row's figure of an operator in the round with that number, and reports whether the round has it.
func (r Report) measured(row Row, operator string, number int) (measured, bool, error) {
	value, of, found, err := r.find(row.Figure, operator, number)
	if err != nil || !found || row.Per == "" {
		return measured{value, of.Bundles}, found, err
	}
	by := float64(of.Bundles)
	if row.Per != Bundles {
		var known bool
		by, _, known, err = r.find(row.Per, operator, number)
		if err == nil && !known {
			err = fmt.Errorf("round %d: %s has no %s to divide %s by: measure the round again",
				number, operator, row.Per, row.Figure)
		}
	}
	if err == nil && by == 0 {
		err = fmt.Errorf("round %d: %s: %s is 0: nothing to divide %s by", number, operator, row.Per, row.Figure)
	}
	if err != nil {
		return measured{}, false, err
	}
	return measured{value / by, of.Bundles}, true, nil
}

// find returns the figure of that name, and the round that has it.
func (r Report) find(figure, operator string, number int) (value float64, of Round, found bool, err error) {
	for _, round := range r.Rounds {
		got, there := round.Figures[figure]
		if !there || round.Operator != operator || round.Number != number {
			continue
		}
		if found {
			return 0, of, false, fmt.Errorf("round %d: %s has %s twice: figures of different parts need different names",
				number, operator, figure)
		}
		if err := checkFigure(figure, got); err != nil {
			return 0, of, false, fmt.Errorf("round %d: %s: %w", number, operator, err)
		}
		value, of, found = got, round, true
	}
	return value, of, found, nil
}
