package templates

import (
	"bytes"
	"sort"
	"strings"
	"text/template/parse"
)

// place is the position in a template from which rendered text comes.
type place struct {
	file string
	line int
}

// textPlace is the place of a text node, and next is the line of the node after it.
type textPlace struct {
	place
	next int
}

// places finds text nodes by the address of their first byte: package template passes these bytes to the writer.
type places map[*byte]textPlace

// note records the places of the text nodes of a tree.
func (p places) note(s source, root *parse.ListNode) {
	visit(root, func(node parse.Node) {
		list, ok := node.(*parse.ListNode)
		if !ok {
			return
		}
		for i, child := range list.Nodes {
			text, ok := child.(*parse.TextNode)
			if !ok || len(text.Text) == 0 {
				continue
			}
			line := lineAt(s.text, text.Pos)
			next := line + bytes.Count(text.Text, []byte("\n"))
			if i+1 < len(list.Nodes) {
				next = lineAt(s.text, list.Nodes[i+1].Position())
			}
			p[&text.Text[0]] = textPlace{place{s.path, line}, next}
		}
	})
}

// output collects the rendered text, and the places from which it comes. Its size is limited.
type output struct {
	buffer bytes.Buffer
	places places
	marks  []mark
	// behind is the place of the node after the text node that was written last.
	behind place
}

// mark says that the output from offset up to the next mark comes from place. If isText is set, the output comes from a
// text node: each line feed in it is also a line feed in the template. Otherwise the output comes from an action, and
// all of it comes from the line of place.
type mark struct {
	offset int
	place
	isText bool
}

const (
	largestOutput = 16 << 20
	// markLimit bounds the marks of a file; for output after the last mark the place isn't known.
	markLimit = 100_000
)

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	if o.buffer.Len()+len(p) > largestOutput {
		return 0, rulef("", "more than %d MiB are rendered", largestOutput>>20)
	}
	if len(p) == 0 {
		return 0, nil
	}
	if from, ok := o.places[&p[0]]; ok {
		o.mark(from.place, true)
		o.behind = place{from.file, from.next}
	} else {
		o.mark(o.behind, false)
	}
	return o.buffer.Write(p)
}

func (o *output) mark(from place, isText bool) {
	switch count := len(o.marks); {
	case count > markLimit:
	case count == markLimit:
		o.marks = append(o.marks, mark{offset: o.buffer.Len()})
	case isText || count == 0 || o.marks[count-1].isText || o.marks[count-1].place != from:
		o.marks = append(o.marks, mark{o.buffer.Len(), from, isText})
	}
}

// placeOf returns the place from which a line of the output of file, counted from 1, comes. If the place isn't known,
// it returns file without a line.
func (o *output) placeOf(file string, line int) place {
	text := o.buffer.String()
	offset := 0
	for range line - 1 {
		end := strings.IndexByte(text[offset:], '\n')
		if end < 0 {
			break
		}
		offset += end + 1
	}
	// The indentation may be a text node before an action, so the place of the first other character counts.
	for offset < len(text) && text[offset] == ' ' {
		offset++
	}
	at := sort.Search(len(o.marks), func(i int) bool { return o.marks[i].offset > offset }) - 1
	if at < 0 || o.marks[at].file == "" {
		return place{file: file}
	}
	found := o.marks[at]
	if found.isText {
		found.line += strings.Count(text[found.offset:offset], "\n")
	}
	return found.place
}
