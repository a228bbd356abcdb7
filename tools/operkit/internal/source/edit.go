package source

import (
	"bytes"
	"errors"
	"go/format"
	"slices"
)

// ErrNoPlace reports that the place for a line is no longer where it was when the file was first written.
var ErrNoPlace = errors.New("the place for it isn't known")

// insertion is text that comes before the one at an offset.
type insertion struct {
	offset int
	text   string
}

// insert returns the text with the insertions, formatted if the text was. If the result isn't Go, it returns
// ErrNoPlace.
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

// indent is what stands before an offset in its line, if that is nothing but spaces and tabs.
func (f *File) indent(offset int) (string, bool) {
	before := f.text[f.lineStart(offset):offset]
	return string(before), len(bytes.Trim(before, " \t")) == 0
}
