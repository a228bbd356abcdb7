package draw

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/operkit/operkit/dag"
)

// DOT returns a graph in the language of Graphviz: `dot -Tsvg` draws it. Reasons and errors are tooltips.
func DOT[T any](g *dag.Graph[T], state dag.State) string {
	d := drawing{g.Nodes(), state}
	var b strings.Builder
	b.WriteString("digraph {\n  rankdir=LR;\n  node [shape=box];\n")
	ids := make([]string, len(d.nodes))
	for i, node := range d.nodes {
		ids[i] = dotID(node.Name)
		b.WriteString("  " + ids[i])
		if attributes := d.dotAttributes(node); len(attributes) > 0 {
			b.WriteString(" [" + strings.Join(attributes, ", ") + "]")
		}
		b.WriteString(";\n")
	}
	d.edges(func(parent, child int, conditional bool) {
		b.WriteString("  " + ids[parent] + " -> " + ids[child])
		if conditional {
			b.WriteString(" [style=dashed]")
		}
		b.WriteString(";\n")
	})
	b.WriteString(d.dotLegend() + "}\n")
	return b.String()
}

// dotLegend returns the legend as the label of the graph, empty if no node has a look.
func (d drawing) dotLegend() string {
	var cells strings.Builder
	for _, look := range d.legend() {
		fmt.Fprintf(&cells, `<td bgcolor="%s" color="%s">%s</td>`, look.fill, look.line, look.name)
	}
	if cells.Len() == 0 {
		return ""
	}
	return `  label=<<table border="0" cellborder="1" cellspacing="4"><tr>` + cells.String() + "</tr></table>>;\n"
}

func (d drawing) dotAttributes(node dag.Node) (attributes []string) {
	if label := dotText(node.Name); label != node.Name {
		attributes = append(attributes, `label="`+label+`"`)
	}
	var styles []string
	if look, known := d.look(node); known {
		styles = append(styles, "filled")
		attributes = append(attributes, fmt.Sprintf(`fillcolor="%s", color="%s"`, look.fill, look.line))
	}
	if node.Disabled {
		styles = append(styles, "dashed")
	}
	if len(styles) > 0 {
		attributes = append(attributes, `style="`+strings.Join(styles, ",")+`"`)
	}
	if note := d.note(node.Name); note != "" {
		attributes = append(attributes, `tooltip="`+dotText(note)+`"`)
	}
	return attributes
}

// dotID returns a name as an identifier. Different names stay different: a backslash in the name is doubled, so a
// single backslash always begins an escape.
func dotID(name string) string { return `"` + dotEscape(name, `\x%02x`, "&") + `"` }

// dotText escapes a text so that Graphviz shows it unchanged. In labels and tooltips, Graphviz reads escapes a second
// time and reads HTML entities.
func dotText(text string) string { return dotEscape(text, `\\x%02x`, "&amp;") }

func dotEscape(text, unprintable, ampersand string) string {
	var b strings.Builder
	b.Grow(len(text))
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		switch {
		case r == '"':
			b.WriteString(`\"`)
		case r == '\\':
			b.WriteString(`\\`)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '&':
			b.WriteString(ampersand)
		case r < ' ' || r == 0x7f || r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, unprintable, text[at])
		default:
			b.WriteString(text[at : at+size])
		}
		at += size
	}
	return b.String()
}
