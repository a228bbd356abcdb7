package report

import (
	"errors"
	"fmt"
	"slices"
)

// Kind is what is made of a figure.
type Kind int

const (
	// Ratio is the median, over the rounds, of ours divided by the peer's of the same round.
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
	// Name starts the line and is the row's own, such as "bench-burst".
	Name string
	// Title says what the figure is, in tables and charts. It may hold Markdown; charts show it as it is.
	Title string
	// Unit is that of the figure, after the division by Per, such as "s" or "writes per Bundle"; empty for bare
	// numbers.
	Unit string
	// Kind is what is made of the figure.
	Kind Kind
	// Figure is its name in [Round.Figures]. The rounds in which any of the operators has it count: ours and the peer
	// must have it in all of them.
	Figure string
	// Peer is the operator that ours is divided by. Only a [Ratio] has one.
	Peer string
	// Per is a figure of the same operator and round by which Figure is divided before anything else, or [Bundles] for
	// the number of Bundles where Figure was measured; empty for none.
	Per string
	// Goal is what the result may at most be.
	Goal float64
	// Decimals are those of the figure in tables and charts.
	Decimals int
	// Rounds is how many rounds there must be at least, so that no median of fewer passes for one of all; zero is one.
	Rounds int
	// Reported takes the goal away: the row is shown only. An error is one nevertheless.
	Reported bool
}

// check returns what is wrong with the row itself. The first of the operators is ours.
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
