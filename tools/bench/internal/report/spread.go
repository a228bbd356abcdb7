package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Spread has the median and the range of an operator's values over the rounds, in the unit of the row.
type Spread struct {
	Operator         string
	Median, Min, Max float64
	// Rounds is the number of rounds that the operator has. Ours and the peer must have all rounds of the result. Other
	// operators may have fewer, which is shown.
	Rounds int
}

func spread(operator string, of map[int]measured) Spread {
	values := make([]float64, 0, len(of))
	for _, got := range of {
		values = append(values, got.value)
	}
	return Spread{
		Operator: operator, Median: median(values), Min: slices.Min(values), Max: slices.Max(values), Rounds: len(values),
	}
}

// text returns "median (min-max)", and the number of rounds if the operator doesn't have all of them.
func (s Spread) text(decimals, rounds int) string {
	number := func(value float64) string { return strconv.FormatFloat(value, 'f', decimals, 64) }
	text := fmt.Sprintf("%s (%s-%s)", number(s.Median), number(s.Min), number(s.Max))
	if s.Rounds < rounds {
		text += fmt.Sprintf(", %d of %d rounds", s.Rounds, rounds)
	}
	return text
}

// median is the middle one, or the mean of the two in the middle. values isn't empty and is sorted.
func median(values []float64) float64 {
	slices.Sort(values)
	middle := len(values) / 2
	if len(values)%2 == 1 {
		return values[middle]
	}
	return (values[middle-1] + values[middle]) / 2
}

// rounded formats a value without an exponent: with three digits below 1, and with at least four digits above.
func rounded(value float64) string {
	digits := 3
	if magnitude := math.Abs(value); magnitude >= 1000 || value == math.Trunc(value) {
		digits = 0
	}
	return strconv.FormatFloat(value, 'f', digits, 64)
}
