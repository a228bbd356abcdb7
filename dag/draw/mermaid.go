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
	members := map[dag.Outcome][]string{}
	var disabled []string
	for i, node := range d.nodes {
		id := fmt.Sprint("n", i)
		fmt.Fprintf(&b, "  %s[\"%s\"]\n", id, mermaidText(node.Name))
		if outcome, known := d.state.Outcome(node.Name); known {
			members[outcome] = append(members[outcome], id)
		}
		if node.Disabled {
			disabled = append(disabled, id)
		}
	}
	d.edges(func(parent, child int, conditional bool) {
		arrow := "-->"
		if conditional {
			arrow = "-.->"
		}
		fmt.Fprintf(&b, "  n%d %s n%d\n", parent, arrow, child)
	})
	for outcome, shade := range shades {
		if ids := members[dag.Outcome(outcome)]; len(ids) > 0 {
			fmt.Fprintf(&b, "  classDef %s fill:%s,stroke:%s,color:#000\n  class %s %[1]s\n",
				dag.Outcome(outcome), shade.fill, shade.line, strings.Join(ids, ","))
		}
	}
	if len(disabled) > 0 {
		fmt.Fprintf(&b, "  classDef disabled stroke-dasharray:5 5\n  class %s disabled\n", strings.Join(disabled, ","))
	}
	return b.String()
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
