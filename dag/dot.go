package dag

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// DOT is a picture of the graph in the language of Graphviz: an arrow from each node to what it
// waits for, dashed where that has a predicate; disabled nodes have a dashed frame. Nodes are in
// the order in which they were added. `dot -Tsvg` draws it.
func (g *Graph[T]) DOT(options ...DrawOption) string {
	d := g.drawing(options)
	var b strings.Builder
	b.WriteString("digraph {\n  rankdir=LR;\n  node [shape=box];\n")
	ids := make([]string, len(d.names))
	for id, name := range d.names {
		ids[id] = dotID(name)
		b.WriteString("  " + ids[id])
		if attributes := d.dotAttributes(int32(id)); len(attributes) > 0 {
			b.WriteString(" [" + strings.Join(attributes, ", ") + "]")
		}
		b.WriteString(";\n")
	}
	d.edges(func(parent, child int32, when bool) {
		b.WriteString("  " + ids[parent] + " -> " + ids[child])
		if when {
			b.WriteString(" [style=dashed]")
		}
		b.WriteString(";\n")
	})
	b.WriteString("}\n")
	return b.String()
}

func (d drawing) dotAttributes(id int32) (attributes []string) {
	if name := d.names[id]; dotText(name) != name {
		attributes = append(attributes, `label="`+dotText(name)+`"`)
	}
	var styles []string
	if end, known := d.outcome(id); known {
		styles = append(styles, "filled")
		attributes = append(attributes, fmt.Sprintf(`fillcolor="%s", color="%s"`, shades[end].fill, shades[end].line))
	}
	if d.err == nil && d.disabled[id] {
		styles = append(styles, "dashed")
	}
	if len(styles) > 0 {
		attributes = append(attributes, `style="`+strings.Join(styles, ",")+`"`)
	}
	if note := d.note(id); note != "" {
		attributes = append(attributes, `tooltip="`+dotText(note)+`"`)
	}
	return attributes
}

// dotID is a name as an identifier. Different names stay different: a backslash of the name is
// doubled, so that a single one is always ours.
func dotID(name string) string { return `"` + dotEscape(name, `\x%02x`, "&") + `"` }

// dotText is a text as it has to be written to be shown as it is. Graphviz reads escapes in it
// a second time, and HTML entities.
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
