package draw

import (
	"fmt"
	"strings"

	"github.com/operkit/operkit/dag"
)

// Mermaid returns a graph as a flowchart in the language of Mermaid, which Markdown viewers show. Reasons and errors
// aren't in it.
func Mermaid[T any](g *dag.Graph[T], state dag.State) string {
	d := drawing{g.Nodes(), state}
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	members := map[look][]string{}
	var dashed []string
	for i, node := range d.nodes {
		id := fmt.Sprint("n", i)
		fmt.Fprintf(&b, "  %s[\"%s\"]\n", id, mermaidText(node.Name))
		if look, known := d.look(node); known {
			members[look] = append(members[look], id)
		}
		if node.Disabled {
			dashed = append(dashed, id)
		}
	}
	d.edges(func(parent, child int, conditional bool) {
		arrow := "-->"
		if conditional {
			arrow = "-.->"
		}
		fmt.Fprintf(&b, "  n%d %s n%d\n", parent, arrow, child)
	})
	d.mermaidLooks(&b, members, dashed)
	return b.String()
}

// mermaidLooks adds the legend, and the looks of nodes. members are the ids of the nodes by their look, and dashed
// those of the nodes with a dashed frame.
func (d drawing) mermaidLooks(b *strings.Builder, members map[look][]string, dashed []string) {
	legend := d.legend()
	if len(legend) == 0 {
		return
	}
	b.WriteString("  subgraph legend\n")
	for i, look := range legend {
		id := fmt.Sprint("l", i)
		fmt.Fprintf(b, "    %s[\"%s\"]\n", id, look.name)
		members[look] = append(members[look], id)
		if look.name == disabled {
			dashed = append(dashed, id)
		}
	}
	b.WriteString("  end\n")
	for _, look := range legend {
		fmt.Fprintf(b, "  classDef %s fill:%s,stroke:%s,color:#000\n  class %s %[1]s\n",
			look.name, look.fill, look.line, strings.Join(members[look], ","))
	}
	if len(dashed) > 0 {
		fmt.Fprintf(b, "  classDef dashed stroke-dasharray:5 5\n  class %s dashed\n", strings.Join(dashed, ","))
	}
}

// mermaidText escapes, as a numbered entity, each character that has a meaning in Mermaid or in the HTML that Mermaid
// makes.
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
