// Package draw draws a [dag.Graph]: as SVG for browsers and documents, as DOT for Graphviz, and as Mermaid for
// Markdown.
//
//	os.WriteFile("plan.svg", []byte(draw.SVG(graph, state)), 0o644)
//
// An arrow leads from each node to each node that it waits for. The arrow is dashed if the dependency has a predicate.
// Nodes are in the order in which they were added. Nodes that are in the state are coloured by their outcome. SVG and
// DOT also show the error of a node, or the reason why it is unstarted. With the zero state, nodes aren't coloured.
// Disabled nodes have a dashed frame, and are grey unless they were visited. A legend explains the colours that occur.
//
// # When to use it
//
// Use it for graphs that a person may want to look at, up to some hundreds of nodes. SVG needs no other program. For
// larger graphs, let Graphviz draw the result of DOT.
//
// # Why its own layout
//
// The layout of SVG follows Sugiyama, Tagawa and Toda in about 240 lines. An edge over several layers gets a point in
// each layer that it passes. Barycentres improve the order within layers, and pools of adjacent items improve the
// positions. goccy/go-graphviz, which runs Graphviz as WebAssembly, and D2, which runs JavaScript, are many times as
// large. nikolaydubina/go-graph-layout calls itself work in progress and needs gonum.
package draw
