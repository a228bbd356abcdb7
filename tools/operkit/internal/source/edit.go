package source

import (
	"bytes"
	"errors"
	"go/format"
	"slices"
)

// ErrNoPlace is returned if the file was edited so that the place for a line can't be found.
var ErrNoPlace = errors.New("the place for the line wasn't found")

// insertion is text to insert at an offset.
type insertion struct {
	offset int
	text   string
}

// insert returns the text with the insertions. The result is formatted if the text was formatted before. If the result
// isn't valid Go, insert returns ErrNoPlace.
func (f *File) insert(insertions ...insertion) ([]byte, error) {
	slices.SortStableFunc(insertions, func(a, b insertion) int { return a.offset - b.offset })
	var out bytes.Buffer
	from := 0
	for _, one := range insertions {
		out.Write(f.text[from:one.offset])
		out.WriteString(one.text)
		from = one.offset
	}
	out.Write(f.text[from:])
	formatted, err := format.Source(out.Bytes())
	if err != nil {
		return nil, ErrNoPlace
	}
	if before, err := format.Source(f.text); err == nil && bytes.Equal(before, f.text) {
		return formatted, nil
	}
	return out.Bytes(), nil
}

// indent returns the text before an offset in its line, and reports whether that is only spaces and tabs.
func (f *File) indent(offset int) (string, bool) {
	before := f.text[f.lineStart(offset):offset]
	return string(before), len(bytes.Trim(before, " \t")) == 0
}
