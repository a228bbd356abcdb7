package report

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
)

// Bundles is the value of [Row.Per] that divides a figure by the number of the round's Bundles.
const Bundles = "bundles"

// plain matches valid names of parts, operators and figures, which become names of files.
var plain = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// Round has the results of one operator in one round of a part of the benchmark.
type Round struct {
	// Operator is the measured operator.
	Operator string `json:"operator"`
	// Number counts rounds from 1. Rounds of different operators with the same number were measured one right after the
	// other, and are compared with each other.
	Number int `json:"number"`
	// Bundles is how many custom resources there were.
	Bundles int `json:"bundles"`
	// Figures are the results, by names such as "burst-seconds" and "burst-writes". None is negative.
	Figures map[string]float64 `json:"figures"`
}

// check returns an error if the round can't be stored.
func (r Round) check() error {
	if err := checkRound(r.Number, r.Operator); err != nil {
		return err
	}
	switch {
	case r.Bundles < 1:
		return fmt.Errorf("%s: round %d: %d Bundles: it needs one at least", r.Operator, r.Number, r.Bundles)
	case len(r.Figures) == 0:
		return fmt.Errorf("%s: round %d: no figures: keep a round when it has been measured", r.Operator, r.Number)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Figures)) {
		if err := checkFigure(name, r.Figures[name]); err != nil {
			return fmt.Errorf("%s: round %d: %w", r.Operator, r.Number, err)
		}
	}
	return nil
}

func checkRound(number int, operator string) error {
	switch {
	case !plain.MatchString(operator):
		return fmt.Errorf("operator %q: %w", operator, errName)
	case number < 1:
		return fmt.Errorf("%s: round %d: rounds count from 1", operator, number)
	}
	return nil
}

func checkFigure(name string, value float64) error {
	switch {
	case !plain.MatchString(name):
		return fmt.Errorf("figure %q: %w", name, errName)
	case name == Bundles:
		return fmt.Errorf("figure %s: the name is taken by the number of Bundles: choose another", name)
	case math.IsNaN(value) || math.IsInf(value, 0) || value < 0:
		return fmt.Errorf("figure %s is %v: it must be a number from 0 on", name, value)
	}
	return nil
}

var errName = errors.New("a name is of a-z, 0-9 and single hyphens between them")
