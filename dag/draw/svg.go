package draw

import (
	"encoding/xml"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/operkit/operkit/dag"
)

// Sizes in pixels.
const (
	nodeHeight  = 32
	letterWidth = 7.4 // of a letter in the widest of the usual monospaced fonts
	nodePadding = 24  // both sides together

	legendHeight = 28 // of the row with the legend
	legendBox    = 12 // width and height of the box before each word
)

// SVG returns a graph as an SVG picture. Nodes that wait for nothing are on the right. Reasons and errors are shown
// when the mouse is over a node.
func SVG[T any](g *dag.Graph[T], state dag.State) string {
	d := drawing{g.Nodes(), state}
	shape := graph{height: nodeHeight}
	for _, node := range d.nodes {
		shape.depths = append(shape.depths, node.Layer)
		shape.widths = append(shape.widths, letterWidth*float64(utf8.RuneCountInString(node.Name))+nodePadding)
	}
	var dashed []bool
	d.edges(func(parent, child int, conditional bool) {
		shape.edges, dashed = append(shape.edges, [2]int{parent, child}), append(dashed, conditional)
	})
	picture := layout(shape)
	legend, width := d.svgLegend(picture.height)
	if legend != "" {
		picture.width, picture.height = max(picture.width, width), picture.height+legendHeight
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0[1]f %.0[2]f" font-family="ui-monospace, SFMono-Regular, Menlo, monospace" font-size="12">`+"\n",
		picture.width, picture.height)
	b.WriteString(`<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="#616161"/></marker></defs>` + "\n")
	b.WriteString(`<rect width="100%" height="100%" fill="#ffffff"/>` + "\n")
	for i, points := range picture.edges {
		fmt.Fprintf(&b, `<path d="%s" fill="none" stroke="#616161"%s marker-end="url(#arrow)"/>`+"\n", svgPath(points), dashes(dashed[i]))
	}
	for i, at := range picture.nodes {
		d.svgNode(&b, d.nodes[i], at, shape.widths[i])
	}
	b.WriteString(legend + "</svg>\n")
	return b.String()
}

func (d drawing) svgNode(b *strings.Builder, node dag.Node, at point, width float64) {
	colours, known := d.look(node)
	if !known {
		colours = look{fill: "#ffffff", line: "#424242"}
	}
	b.WriteString("<g>")
	if note := d.note(node.Name); note != "" {
		b.WriteString("<title>" + svgText(note) + "</title>")
	}
	fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%d" rx="6" fill="%s" stroke="%s"%s/>`,
		at.x, at.y-nodeHeight/2, width, nodeHeight, colours.fill, colours.line, dashes(node.Disabled))
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="middle">%s</text></g>`+"\n", at.x+width/2, at.y+4, svgText(node.Name))
}

// svgLegend returns the legend below a picture of the given height, and the width that the legend needs. It is empty if
// no node has a look.
func (d drawing) svgLegend(top float64) (text string, width float64) {
	var b strings.Builder
	x := float64(margin)
	for _, look := range d.legend() {
		fmt.Fprintf(&b, `<rect x="%.1f" y="%.1f" width="%d" height="%[3]d" rx="3" fill="%s" stroke="%s"%s/>`,
			x, top, legendBox, look.fill, look.line, dashes(look.name == disabled))
		x += legendBox + 6
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f">%s</text>`+"\n", x, top+legendBox-2, look.name)
		x += letterWidth*float64(len(look.name)) + 2*margin
	}
	return b.String(), x
}

func dashes(dashed bool) string {
	if dashed {
		return ` stroke-dasharray="5 4"`
	}
	return ""
}

// svgPath returns a path that bends between layers, and is level where it passes through a layer.
func svgPath(points []point) string {
	var b strings.Builder
	fmt.Fprintf(&b, "M%.1f %.1f", points[0].x, points[0].y)
	for i := 1; i < len(points); i++ {
		from, to := points[i-1], points[i]
		if i%2 == 0 {
			fmt.Fprintf(&b, "L%.1f %.1f", to.x, to.y)
			continue
		}
		middle := (from.x + to.x) / 2
		fmt.Fprintf(&b, "C%.1f %.1f %.1f %.1f %.1f %.1f", middle, from.y, middle, to.y, to.x, to.y)
	}
	return b.String()
}

func svgText(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder never fails
	return b.String()
}
