package dag_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/operkit/operkit/dag"
)

func ExampleGraph_Remove() {
	g := site()
	g.Remove("api")
	g.Remove("disk") // isn't there
	fmt.Println(g)
	// Output: Graph({web:[cache],db:[],cache:[]})
}

func ExampleGraph_RemoveDependency() {
	g := site()
	g.RemoveDependency("web", "api")
	fmt.Println(g)
	// Output: Graph({web:[cache],api:[db],db:[],cache:[]})
}

func ExampleGraph_Reaches() {
	g := site()
	fmt.Println(g.Reaches("web", "db"), g.Reaches("db", "web"), g.Reaches("db", "db"))
	// Output: true false true
}

func ExampleGraph_Dependencies() {
	fmt.Println(site().Dependencies("web"))
	// Output: [api cache]
}

func ExampleGraph_Dependents() {
	fmt.Println(site().Dependents("db"))
	// Output: [api]
}

func ExampleGraph_Descendants() {
	fmt.Println(site().Descendants("web"))
	// Output: [api cache db]
}

func ExampleGraph_Ancestors() {
	fmt.Println(site().Ancestors("db"))
	// Output: [api web]
}

func ExampleGraph_Layers() {
	for _, layer := range site().Layers() {
		fmt.Println(layer)
	}
	// Output:
	// [cache db]
	// [api]
	// [web]
}

func ExampleGraph_DOT() {
	g := site()
	_ = g.Depend("api", "db", dag.When(func(context.Context) (bool, error) { return true, nil }))
	fmt.Print(g.DOT())
	// Output:
	// digraph {
	//   rankdir=LR;
	//   node [shape=box];
	//   "web";
	//   "api";
	//   "db";
	//   "cache";
	//   "web" -> "api";
	//   "web" -> "cache";
	//   "api" -> "db" [style=dashed];
	// }
}

func ExampleGraph_Mermaid() {
	fmt.Print(site().Mermaid())
	// Output:
	// flowchart LR
	//   n0["web"]
	//   n1["api"]
	//   n2["db"]
	//   n3["cache"]
	//   n0 --> n1
	//   n0 --> n3
	//   n1 --> n2
}

func ExampleGraph_SVG() {
	picture := site().SVG()
	fmt.Println(strings.Count(picture, "<g>"), "nodes,", strings.Count(picture, "marker-end"), "arrows")
	// Output: 4 nodes, 3 arrows
}

func ExampleWithState() {
	g := dag.New[int]()
	_ = g.Add("db", 0)
	_ = g.Add("api", 0)
	_ = g.Depend("api", "db")
	state, _ := dag.Run(context.Background(), g, func(context.Context, string, int) error {
		return errors.New("no disk")
	})
	fmt.Print(g.DOT(dag.WithState(state)))
	// Output:
	// digraph {
	//   rankdir=LR;
	//   node [shape=box];
	//   "db" [fillcolor="#ffcdd2", color="#c62828", style="filled", tooltip="no disk"];
	//   "api" [fillcolor="#eeeeee", color="#9e9e9e", style="filled", tooltip="waits for db (failed)"];
	//   "api" -> "db";
	// }
}
