package dag

import (
	"fmt"
	"strings"
)

// Mermaid is a flowchart of the graph in the language of Mermaid, which Markdown viewers show:
// an arrow from each node to what it waits for, dotted where that has a predicate; disabled nodes
// have a dashed frame. Nodes are in the order in which they were added.
func (g *Graph[T]) Mermaid(options ...DrawOption) string {
	d := g.drawing(options)
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	var ends [outcomes][]string
	var off []string
	for id, name := range d.names {
		fmt.Fprintf(&b, "  n%d[\"%s\"]\n", id, mermaidText(name))
		if end, known := d.outcome(int32(id)); known {
			ends[end] = append(ends[end], fmt.Sprint("n", id))
		}
		if d.err == nil && d.disabled[id] {
			off = append(off, fmt.Sprint("n", id))
		}
	}
	d.edges(func(parent, child int32, when bool) {
		arrow := "-->"
		if when {
			arrow = "-.->"
		}
		fmt.Fprintf(&b, "  n%d %s n%d\n", parent, arrow, child)
	})
	for end, ids := range ends {
		if len(ids) > 0 {
			fmt.Fprintf(&b, "  classDef %s fill:%s,stroke:%s,color:#000\n  class %s %s\n",
				Outcome(end), shades[end].fill, shades[end].line, strings.Join(ids, ","), Outcome(end))
		}
	}
	if len(off) > 0 {
		fmt.Fprintf(&b, "  classDef disabled stroke-dasharray:5 5\n  class %s disabled\n", strings.Join(off, ","))
	}
	return b.String()
}

// mermaidText writes as a numbered entity whatever could mean something to Mermaid or to the
// HTML that it makes.
func mermaidText(name string) string {
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(name, "\uFFFD") {
		switch {
		case r == '\n':
			b.WriteString("<br>")
		case r < ' ' || r == 0x7f:
			b.WriteRune('\uFFFD')
		case strings.ContainsRune("\"#&;<>`\\*_~[](){}|", r):
			fmt.Fprintf(&b, "#%d;", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
