package report

import (
	"fmt"
	"slices"
)

// Result is the result of a row.
type Result struct {
	// Row is the row, with its goal.
	Row Row
	// Value is the ratio or the count.
	Value float64
	// Met reports whether Value is at most the goal. It is true for a row that is only reported, and false for a row
	// with an error.
	Met bool
	// Overlap reports, for a ratio, whether the ranges of ours and of the peer overlap: other rounds might have another
	// winner.
	Overlap bool
	// Rounds is how many rounds have the figure, of any operator.
	Rounds int
	// Spreads are the spreads of the operators that have the figure, in the order of the report.
	Spreads []Spread
	// Err says why there is no value.
	Err error
}

// result computes a row.
func (r Report) result(row Row) Result {
	result := Result{Row: row}
	values := map[string]map[int]measured{}
	err := row.check(r.Operators)
	if err == nil {
		values, err = r.collect(row)
	}
	numbers := roundsOf(values)
	result.Rounds = len(numbers)
	for _, operator := range r.Operators {
		if of := values[operator]; len(of) > 0 {
			result.Spreads = append(result.Spreads, spread(operator, of))
		}
	}
	if err == nil {
		result.Value, err = row.value(r.Operators[0], numbers, values)
	}
	if err != nil {
		result.Err = fmt.Errorf("%s: %w", row.Name, err)
		return result
	}
	result.Met = row.Reported || result.Value <= row.Goal
	if row.Kind == Ratio {
		ours, _ := result.Of(r.Operators[0])
		peer, _ := result.Of(row.Peer)
		result.Overlap = ours.Min <= peer.Max && peer.Min <= ours.Max
	}
	return result
}

// Of returns the spread of an operator, and reports whether it has one.
func (r Result) Of(operator string) (Spread, bool) {
	i := slices.IndexFunc(r.Spreads, func(s Spread) bool { return s.Operator == operator })
	if i < 0 {
		return Spread{}, false
	}
	return r.Spreads[i], true
}

// collect returns a row's figures by operator and round number.
func (r Report) collect(row Row) (map[string]map[int]measured, error) {
	values := map[string]map[int]measured{}
	for _, operator := range r.Operators {
		values[operator] = map[int]measured{}
		for _, round := range r.Rounds {
			got, found, err := r.measured(row, operator, round.Number)
			if err != nil {
				return nil, err
			}
			if found {
				values[operator][round.Number] = got
			}
		}
	}
	return values, nil
}

// roundsOf returns the numbers of the rounds in which any operator has a value.
func roundsOf(values map[string]map[int]measured) []int {
	var numbers []int
	for _, of := range values {
		for number := range of {
			numbers = append(numbers, number)
		}
	}
	slices.Sort(numbers)
	return slices.Compact(numbers)
}

// value returns the median over the rounds. It returns an error if a round lacks a needed figure.
func (r Row) value(ours string, numbers []int, values map[string]map[int]measured) (float64, error) {
	if wanted := max(r.Rounds, 1); len(numbers) < wanted {
		return 0, fmt.Errorf("%s is in %d rounds and should be in %d: measure the others", r.Figure, len(numbers), wanted)
	}
	all := make([]float64, 0, len(numbers))
	for _, number := range numbers {
		got, err := r.ofRound(ours, number, values)
		if err != nil {
			return 0, fmt.Errorf("round %d: %w", number, err)
		}
		all = append(all, got)
	}
	return median(all), nil
}

// ofRound returns the ratio or the count of one round.
func (r Row) ofRound(ours string, number int, values map[string]map[int]measured) (float64, error) {
	mine, found := values[ours][number]
	if !found {
		return 0, fmt.Errorf("%s has no %s: measure the round again", ours, r.Figure)
	}
	if r.Kind == Count {
		return mine.value, nil
	}
	peer, found := values[r.Peer][number]
	switch {
	case !found:
		return 0, fmt.Errorf("%s has no %s: measure the round again", r.Peer, r.Figure)
	case mine.bundles != peer.bundles:
		return 0, fmt.Errorf("%s has %d Bundles and %s %d: only the same work can be compared",
			ours, mine.bundles, r.Peer, peer.bundles)
	case peer.value == 0:
		return 0, fmt.Errorf("%s of %s is 0: nothing to compare with", r.Figure, r.Peer)
	}
	return mine.value / peer.value, nil
}
