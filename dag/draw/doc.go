// Package draw draws a [dag.Graph]: as SVG for browsers and documents, as DOT for Graphviz, and as Mermaid for
// Markdown.
//
//	os.WriteFile("plan.svg", []byte(draw.SVG(graph, state)), 0o644)
//
// An arrow leads from each node to what it waits for. It is dashed where the dependency has a predicate, and disabled
// nodes have a dashed frame. Nodes are in the order in which they were added. A state colours each node that it knows
// by its outcome, as far as the format has a place for it with the node's error, or the reason why it is unstarted. The
// zero state leaves all nodes plain.
//
// # When to use it
//
// Use it for graphs that a person may want to look at, up to some hundreds of nodes. SVG needs no other program; for
// larger graphs let Graphviz draw the DOT.
//
// # Why its own layout
//
// The layout of SVG follows Sugiyama, Tagawa and Toda: edges over several layers are split by points between them, the
// order within layers is improved by barycentres, and positions by pools of neighbours: about 240 lines.
// goccy/go-graphviz, which runs Graphviz as WebAssembly, and D2, which runs JavaScript, weigh many times as much, and
// nikolaydubina/go-graph-layout calls itself work in progress and needs gonum.
package draw
