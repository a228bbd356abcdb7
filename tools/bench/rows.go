package main

import (
	"fmt"

	"github.com/operkit/operkit/tools/bench/internal/report"
	"github.com/operkit/operkit/tools/bench/internal/traps"
)

// The operators with which ours is compared.
const (
	update = "cr-update"
	apply  = "cr-apply"
)

// rowsOf are the figures of each part, with their goals.
var rowsOf = map[string]func(rounds int) []report.Row{"main": mainRows, "faults": faultRows, "scale": scaleRows, "traps": trapRows}

func faultRows(rounds int) []report.Row {
	return []report.Row{{
		Name: "bench-faults", Title: "a burst in which a fifth of the requests fail: until all are Ready", Unit: "s", Kind: report.Ratio,
		Figure: "faults-seconds", Peer: update, Goal: 0.8, Decimals: 1, Rounds: rounds,
	}}
}

func scaleRows(rounds int) []report.Row {
	return []report.Row{
		{
			Name: "bench-scale-rss", Title: "10 000 Bundles: memory", Unit: "KiB per Bundle", Kind: report.Ratio,
			Figure: "scale-rss-kibibytes", Per: report.Bundles, Peer: update, Goal: 0.7, Decimals: 1, Rounds: rounds,
		},
		{
			Name: "bench-scale-restart", Title: "10 000 Bundles: restart, to that with 1000", Unit: "", Kind: report.Count,
			Figure: "scale-restart-seconds", Per: "restart-seconds", Goal: 12, Decimals: 1, Rounds: rounds,
		},
	}
}

func trapRows(rounds int) []report.Row {
	return []report.Row{{
		Name: "bench-traps", Title: "traps that an operator falls into", Unit: fmt.Sprintf("of %d", traps.Count()), Kind: report.Count,
		Figure: trapsFigure, Goal: 0, Rounds: rounds,
	}}
}

// reported returns a row without a goal.
func reported(row report.Row) report.Row {
	row.Reported, row.Goal = true, 0
	return row
}

func mainRows(rounds int) []report.Row {
	ratio := func(name, title, unit, figure, peer string, goal float64) report.Row {
		return report.Row{Name: name, Title: title, Unit: unit, Kind: report.Ratio, Figure: figure, Peer: peer, Goal: goal, Decimals: 2, Rounds: rounds}
	}
	count := func(name, title, unit, figure string, goal float64, decimals int) report.Row {
		return report.Row{Name: name, Title: title, Unit: unit, Kind: report.Count, Figure: figure, Goal: goal, Decimals: decimals, Rounds: rounds}
	}
	megabytes := func(name, title, figure string) report.Row {
		row := ratio(name, title, "MiB", figure, update, 0.8)
		row.Decimals = 1
		return row
	}
	return []report.Row{
		count("bench-burst-calls", "burst: writes", "per Bundle", "burst-writes", 6, 2),
		count("bench-burst-reads", "burst: reads", "", "burst-reads", 0, 0),
		ratio("bench-burst", "burst: until all are Ready", "s", "burst-seconds", update, 1.1),
		ratio("bench-burst-apply", "burst: until the last call", "s", "burst-last-call-seconds", apply, 0.8),
		count("bench-idle", "at rest: writes", "", "idle-writes", 0, 0),
		count("bench-restart-calls", "restart: writes", "", "restart-writes", 0, 0),
		ratio("bench-restart", "restart: until an edited Bundle is Ready", "s", "restart-seconds", update, 1.1),
		count("bench-drift-calls", "200 drifts: writes, mean of five times", "", "drift-writes", 200, 1),
		ratio("bench-drift", "200 drifts: until all are repaired, mean of five times", "s", "drift-seconds", update, 1.1),
		count("bench-update-calls", "update: writes", "per Bundle", "update-writes", 2, 2),
		ratio("bench-update", "update: until all are Ready", "s", "update-seconds", update, 1.05),
		ratio("bench-delete", "deletion: until nothing is left", "s", "delete-seconds", update, 1.15),
		ratio("bench-cpu", "the operator's processor time in all", "s", "cpu-seconds", update, 0.8),
		ratio("bench-apiserver", "the API server's processor time in all", "s", "apiserver-cpu-seconds", update, 1.05),
		megabytes("bench-rss-peak", "memory at its peak, 1000 Bundles", "rss-peak-mebibytes"),
		megabytes("bench-rss-rest", "memory at rest, 1000 Bundles", "rss-rest-mebibytes"),
		ratio("bench-start", "start: until the first watch", "s", "start-seconds", update, 1.15),
		reported(megabytes("bench-binary", "the program", "binary-mebibytes")),
		reported(ratio("bench-modules", "modules in the program", "", "modules", update, 0)),
		reported(ratio("bench-lines", "lines of the operator's own code", "", "lines", update, 0)),
		reported(count("bench-hot", "1000 edits of one Bundle: statuses written", "", "hot-statuses", 0, 0)),
	}
}
