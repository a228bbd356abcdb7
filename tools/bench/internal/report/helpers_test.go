package report_test

import (
	"errors"

	"github.com/operkit/operkit/tools/bench/internal/report"
)

const (
	ours  = "operkit"
	peer  = "cr-update"
	other = "cr-apply"
)

// rounds are those of an operator with one figure, numbered from 1. A negative value leaves its round out.
func rounds(operator, figure string, values ...float64) []report.Round {
	var all []report.Round
	for i, value := range values {
		if value >= 0 {
			all = append(all, round(operator, i+1, report.Round{Figures: map[string]float64{figure: value}}))
		}
	}
	return all
}

func round(operator string, number int, of report.Round) report.Round {
	of.Operator, of.Number = operator, number
	if of.Bundles == 0 {
		of.Bundles = 10
	}
	return of
}

func figures(namesAndValues map[string]float64) report.Round {
	return report.Round{Figures: namesAndValues}
}

func together(all ...[]report.Round) []report.Round {
	var joined []report.Round
	for _, some := range all {
		joined = append(joined, some...)
	}
	return joined
}

func operators() []string {
	return []string{ours, peer, other}
}

// burst is a row with a ratio, and calls one with a count.
var (
	burst = report.Row{Name: "bench-burst", Title: "Burst", Unit: "s", Figure: "seconds", Peer: peer, Goal: 1.1, Decimals: 1}
	calls = report.Row{Name: "bench-calls", Title: "Calls", Kind: report.Count, Figure: "calls", Goal: 6}
)

// broken is a writer that takes nothing.
type broken struct{}

var errBroken = errors.New("no space left")

func (broken) Write([]byte) (int, error) { return 0, errBroken }
