package report_test

import (
	"fmt"
	"os"

	"github.com/operkit/operkit/tools/bench/internal/report"
)

// example is three rounds of two operators. The second round was disturbed.
func example() report.Report {
	figures := func(operator string, number int, seconds, writes float64) report.Round {
		return report.Round{
			Operator: operator, Number: number, Bundles: 1000,
			Figures: map[string]float64{"burst-seconds": seconds, "burst-writes": writes},
		}
	}
	return report.Report{
		Operators: []string{"operkit", "cr-update"},
		Rows: []report.Row{
			{
				Name: "bench-burst", Title: "Burst until all are Ready", Unit: "s", Figure: "burst-seconds", Peer: "cr-update",
				Goal: 1.1, Decimals: 1,
			},
			{
				Name: "bench-burst-calls", Title: "Writes in the burst, per Bundle", Kind: report.Count, Figure: "burst-writes",
				Per: report.Bundles, Goal: 6,
			},
		},
		Rounds: []report.Round{
			figures("operkit", 1, 9, 6000), figures("cr-update", 1, 10, 6000),
			figures("operkit", 2, 18, 6000), figures("cr-update", 2, 20, 6000),
			figures("operkit", 3, 9, 6000), figures("cr-update", 3, 10, 6000),
		},
	}
}

func ExampleReport_Results() {
	results, err := example().Results()
	if err != nil {
		fmt.Println(err)
	}
	for _, result := range results {
		fmt.Println(result.Row.Kind, result.Row.Name, result.Value, result.Met, result.Err)
	}
	// Output:
	// RATIO bench-burst 0.9 true <nil>
	// COUNT bench-burst-calls 6 true <nil>
}

func ExampleResult_Of() {
	results, err := example().Results()
	if err != nil {
		fmt.Println(err)
		return
	}
	spread, there := results[0].Of("cr-update")
	fmt.Println(spread.Median, spread.Min, spread.Max, there)
	// Output: 10 10 20 true
}

func ExampleReport_Lines() {
	met, err := example().Lines(os.Stdout)
	fmt.Println(met, err)
	// Output:
	// RATIO bench-burst 0.900 goal 1.1 ok ranges overlap
	// COUNT bench-burst-calls 6 goal 6 ok
	// true <nil>
}

func ExampleReport_Lines_missing() {
	r := example()
	r.Rounds = r.Rounds[:5]
	met, err := r.Lines(os.Stdout)
	fmt.Println(met, err)
	// Output:
	// ERROR bench-burst: round 3: cr-update has no burst-seconds: measure the round again
	// COUNT bench-burst-calls 6 goal 6 ok
	// false <nil>
}

func ExampleReport_Table() {
	if err := example().Table(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// | figure | operkit | cr-update | ratio | goal |
	// |---|---:|---:|---:|---:|
	// | Burst until all are Ready (s) | 9.0 (9.0-18.0) | 10.0 (10.0-20.0) | 0.900 of cr-update, ranges overlap | 1.1 ok |
	// | Writes in the burst, per Bundle | 6 (6-6) | 6 (6-6) | - | 6 ok |
}

func ExampleReport_Charts() {
	folder, remove := scratch()
	defer remove()
	if err := example().Charts(folder); err != nil {
		fmt.Println(err)
	}
	charts, err := os.ReadDir(folder)
	for _, chart := range charts {
		fmt.Println(chart.Name())
	}
	fmt.Println(err)
	// Output:
	// burst-seconds.svg
	// burst-writes-per-bundles.svg
	// <nil>
}

func ExampleTrapTable() {
	err := report.TrapTable(os.Stdout, []report.Trap{
		{
			Name: "a user's label stays", Operator: "operkit", Holds: true,
			Evidence: "`team: red` is on the Service after 20 reconciles",
		},
		{
			Name: "a user's label stays", Operator: "cr-update", Holds: true,
			Evidence: "`team: red` is on the Service after 20 reconciles",
		},
		{
			Name: "a child dropped from the render disappears", Operator: "operkit", Holds: true,
			Evidence: "ConfigMap a-size: NotFound",
		},
		{Name: "a child dropped from the render disappears", Operator: "cr-update", Evidence: "ConfigMap a-size is still there"},
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// | trap | operkit | cr-update |
	// |---|---:|---:|
	// | a user's label stays | yes | yes |
	// | a child dropped from the render disappears | yes | no |
	//
	// Evidence:
	//
	// - a user's label stays
	//   - operkit, yes: `team: red` is on the Service after 20 reconciles
	//   - cr-update, yes: `team: red` is on the Service after 20 reconciles
	// - a child dropped from the render disappears
	//   - operkit, yes: ConfigMap a-size: NotFound
	//   - cr-update, no: ConfigMap a-size is still there
}
