package report

import (
	"errors"
	"fmt"
	"slices"
)

// Kind is how a figure is evaluated.
type Kind int

const (
	// Ratio is the median over all rounds of ours divided by the peer's in the same round.
	Ratio Kind = iota
	// Count is the median of ours alone.
	Count
)

// String is the word that lines start with.
func (k Kind) String() string {
	switch k {
	case Ratio:
		return "RATIO"
	case Count:
		return "COUNT"
	}
	return fmt.Sprintf("Kind(%d)", int(k))
}

// Row is a figure to show, and its goal.
type Row struct {
	// Name is the row's unique name, such as "bench-burst". Its line begins with it.
	Name string
	// Title says what the figure is, in tables and charts. It may hold Markdown; charts show it as it is.
	Title string
	// Unit is the unit of the figure after the division by Per, such as "s" or "writes per Bundle"; empty for bare
	// numbers.
	Unit string
	// Kind is how the figure is evaluated.
	Kind Kind
	// Figure is its name in [Round.Figures]. All rounds in which any operator has it count; ours and the peer must have
	// it in all of these.
	Figure string
	// Peer is the operator that ours is divided by. Only a [Ratio] has one.
	Peer string
	// Per is a figure of the same operator and round by which Figure is divided before anything else, or [Bundles] for
	// the number of Bundles where Figure was measured; empty for none.
	Per string
	// Goal is the maximum of the result.
	Goal float64
	// Decimals is the number of decimals in tables and charts.
	Decimals int
	// Rounds is the minimum number of rounds, so that a median of fewer rounds isn't shown as complete; zero means one.
	Rounds int
	// Reported is true for a row without a goal, which is only shown. An error in it still counts as a missed goal.
	Reported bool
}

// check returns an error if the row is invalid. The first of the operators is ours.
func (r Row) check(operators []string) error {
	switch {
	case !plain.MatchString(r.Figure):
		return fmt.Errorf("figure %q: %w", r.Figure, errName)
	case r.Per != "" && !plain.MatchString(r.Per):
		return fmt.Errorf("per %q: %w", r.Per, errName)
	case r.Decimals < 0:
		return fmt.Errorf("%d decimals: it must be 0 or more", r.Decimals)
	case r.Kind == Count && r.Peer != "":
		return fmt.Errorf("peer %s: a count has none: leave it out or make the row a ratio", r.Peer)
	case r.Kind == Count:
		return nil
	case r.Kind != Ratio:
		return fmt.Errorf("%s: there are only ratios and counts", r.Kind)
	case r.Peer == "":
		return errors.New("no peer: a ratio needs an operator to compare with")
	case slices.Index(operators, r.Peer) < 1:
		return fmt.Errorf("peer %s: it must be one of the operators, and not ours", r.Peer)
	}
	return nil
}

// heading is the title with the unit, or the name where there is no title.
func (r Row) heading() string {
	title := r.Title
	if title == "" {
		title = r.Name
	}
	if r.Unit == "" {
		return title
	}
	return title + " (" + r.Unit + ")"
}
