package dag

import (
	"encoding/xml"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/operkit/operkit/dag/internal/layered"
)

// The looks of an SVG picture, in pixels.
const (
	svgHeight = 32
	svgLetter = 7.4 // what a letter of the font takes at most, as a rule
	svgRoom   = 24  // beside a name
)

// SVG is a picture of the graph for browsers and documents: an arrow from each node to what it waits for, dashed where that has a
// predicate; disabled nodes have a dashed frame. What waits for nothing is on the right. What there is to say of a node is shown when the
// mouse is over it. It needs no other program, and is meant for graphs that a person can take in.
func (g *Graph[T]) SVG(options ...DrawOption) string {
	d := g.drawing(options)
	var shape layered.Graph
	var dashed []bool
	shape.Height = svgHeight
	shape.Depths = make([]int32, len(d.names))
	if d.err == nil {
		shape.Depths, _ = d.depths()
	}
	for _, name := range d.names {
		shape.Widths = append(shape.Widths, svgLetter*float64(utf8.RuneCountInString(name))+svgRoom)
	}
	d.edges(func(parent, child int32, when bool) {
		shape.Edges, dashed = append(shape.Edges, [2]int32{parent, child}), append(dashed, when)
	})
	picture := layered.Place(shape)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" font-family="ui-monospace, SFMono-Regular, Menlo, monospace" font-size="12">`+"\n",
		picture.Width, picture.Height, picture.Width, picture.Height)
	b.WriteString(`<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="#616161"/></marker></defs>` + "\n")
	b.WriteString(`<rect width="100%" height="100%" fill="#ffffff"/>` + "\n")
	for i, points := range picture.Edges {
		fmt.Fprintf(&b, `<path d="%s" fill="none" stroke="#616161"%s marker-end="url(#arrow)"/>`+"\n", svgPath(points), dashes(dashed[i]))
	}
	for id, at := range picture.Nodes {
		d.svgNode(&b, int32(id), at, shape.Widths[id])
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func (d drawing) svgNode(b *strings.Builder, id int32, at layered.Point, width float64) {
	colours := shade{"#ffffff", "#424242"}
	if end, known := d.outcome(id); known {
		colours = shades[end]
	}
	b.WriteString("<g>")
	if note := d.note(id); note != "" {
		b.WriteString("<title>" + svgText(note) + "</title>")
	}
	fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%d" rx="6" fill="%s" stroke="%s"%s/>`,
		at.X, at.Y-svgHeight/2, width, svgHeight, colours.fill, colours.line, dashes(d.err == nil && d.disabled[id]))
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="middle">%s</text></g>`+"\n",
		at.X+width/2, at.Y+4, svgText(d.names[id]))
}

func dashes(dashed bool) string {
	if dashed {
		return ` stroke-dasharray="5 4"`
	}
	return ""
}

// svgPath goes level where points are of one layer, and bends between layers.
func svgPath(points []layered.Point) string {
	var b strings.Builder
	fmt.Fprintf(&b, "M%.1f %.1f", points[0].X, points[0].Y)
	for i := 1; i < len(points); i++ {
		from, to := points[i-1], points[i]
		if i%2 == 0 {
			fmt.Fprintf(&b, "L%.1f %.1f", to.X, to.Y)
			continue
		}
		middle := (from.X + to.X) / 2
		fmt.Fprintf(&b, "C%.1f %.1f %.1f %.1f %.1f %.1f", middle, from.Y, middle, to.Y, to.X, to.Y)
	}
	return b.String()
}

func svgText(text string) string {
	var b strings.Builder
	// A Builder never fails.
	_ = xml.EscapeText(&b, []byte(text))
	return b.String()
}
