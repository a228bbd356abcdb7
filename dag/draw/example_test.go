package draw_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/operkit/operkit/dag"
	"github.com/operkit/operkit/dag/draw"
)

// site returns a graph of which some nodes wait for others.
func site() *dag.Graph[int] {
	g := dag.New[int]()
	for _, name := range []string{"web", "api", "db"} {
		_ = g.Add(name, 0)
	}
	_ = g.Depend("web", "api")
	_ = g.Depend("api", "db", dag.When(func(context.Context) (bool, error) { return true, nil }))
	return g
}

func ExampleDOT() {
	fmt.Print(draw.DOT(site(), dag.State{}))
	// Output:
	// digraph {
	//   rankdir=LR;
	//   node [shape=box];
	//   "web";
	//   "api";
	//   "db";
	//   "web" -> "api";
	//   "api" -> "db" [style=dashed];
	// }
}

func ExampleMermaid() {
	fmt.Print(draw.Mermaid(site(), dag.State{}))
	// Output:
	// flowchart LR
	//   n0["web"]
	//   n1["api"]
	//   n2["db"]
	//   n0 --> n1
	//   n1 -.-> n2
}

func ExampleSVG() {
	picture := draw.SVG(site(), dag.State{})
	fmt.Println(strings.Count(picture, "<g>"), "nodes,", strings.Count(picture, "marker-end"), "arrows")
	// Output: 3 nodes, 2 arrows
}

func ExampleDOT_state() {
	g := dag.New[int]()
	_ = g.Add("db", 0)
	_ = g.Add("api", 0)
	_ = g.Depend("api", "db")
	state, _ := dag.Run(context.Background(), g, func(context.Context, string, int) error {
		return errors.New("no disk")
	})
	fmt.Print(draw.DOT(g, state))
	// Output:
	// digraph {
	//   rankdir=LR;
	//   node [shape=box];
	//   "db" [fillcolor="#ffcdd2", color="#c62828", style="filled", tooltip="no disk"];
	//   "api" [fillcolor="#e3f2fd", color="#1565c0", style="filled", tooltip="waits for db (failed)"];
	//   "api" -> "db";
	//   label=<<table border="0" cellborder="1" cellspacing="4"><tr><td bgcolor="#ffcdd2" color="#c62828">failed</td><td bgcolor="#e3f2fd" color="#1565c0">unstarted</td></tr></table>>;
	// }
}
