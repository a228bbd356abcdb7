package smp

import (
	"strconv"
	"strings"

	"github.com/operkit/operkit/smp/internal/document"
)

// path is a place in a document, from its root.
type path []step

// step is one level of a path: a field of a map, or an index of a list.
type step struct {
	field string
	index int
	list  bool
}

// String is the path as a JSON pointer (RFC 6901).
func (p path) String() string {
	var b strings.Builder
	for _, s := range p {
		b.WriteByte('/')
		if s.list {
			b.WriteString(strconv.Itoa(s.index))
		} else {
			b.WriteString(document.EscapeToken(s.field))
		}
	}
	return b.String()
}
