package report_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/operkit/operkit/tools/bench/internal/report"
)

// measured is a round of an example.
func measured(number int) report.Round {
	return report.Round{Operator: "operkit", Number: number, Bundles: 1000, Figures: map[string]float64{"burst-seconds": 9.5}}
}

// scratch is a folder that an example removes when it ends.
func scratch() (string, func()) {
	folder, err := os.MkdirTemp("", "report-*")
	if err != nil {
		fmt.Println(err)
	}
	return folder, func() { _ = os.RemoveAll(folder) }
}

func ExampleOpen() {
	folder, remove := scratch()
	defer remove()
	_, err := report.Open(folder, report.Settings{Part: "main", Bundles: 1000, Built: "3f2a"})
	fmt.Println(err)
	_, err = report.Open(folder, report.Settings{Part: "main", Bundles: 200, Built: "3f2a"})
	for _, piece := range strings.SplitAfter(strings.ReplaceAll(err.Error(), folder, "rounds"), ": ") {
		fmt.Println(strings.TrimSpace(piece))
	}
	// Output:
	// <nil>
	// rounds/main.settings.json:
	// the rounds of part main there are of 1000 Bundles and build 3f2a, not of 200 Bundles and build 3f2a:
	// remove the folder rounds to measure anew, or use another one
}

func ExampleStore_Has() {
	folder, remove := scratch()
	defer remove()
	store, err := report.Open(folder, report.Settings{Part: "main", Bundles: 1000, Built: "3f2a"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		done, err := store.Has("main", 1, "operkit")
		fmt.Println(done, err)
		if !done {
			fmt.Println(store.Put("main", measured(1)))
		}
	}
	// Output:
	// false <nil>
	// <nil>
	// true <nil>
}

func ExampleStore_Put() {
	folder, remove := scratch()
	defer remove()
	store, err := report.Open(folder, report.Settings{Part: "main", Bundles: 1000, Built: "3f2a"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(store.Put("main", measured(1)))
	content, err := os.ReadFile(filepath.Join(folder, "main.01.operkit.json"))
	fmt.Print(string(content), err, "\n")
	// Output:
	// <nil>
	// {
	//   "operator": "operkit",
	//   "number": 1,
	//   "bundles": 1000,
	//   "figures": {
	//     "burst-seconds": 9.5
	//   }
	// }
	// <nil>
}

func ExampleStore_Load() {
	folder, remove := scratch()
	defer remove()
	store, err := report.Open(folder, report.Settings{Part: "main", Bundles: 1000, Built: "3f2a"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for number := 2; number > 0; number-- {
		if err := store.Put("main", measured(number)); err != nil {
			fmt.Println(err)
		}
	}
	rounds, err := store.Load("main")
	for _, round := range rounds {
		fmt.Println(round.Operator, round.Number, round.Figures["burst-seconds"])
	}
	fmt.Println(err)
	// Output:
	// operkit 1 9.5
	// operkit 2 9.5
	// <nil>
}
