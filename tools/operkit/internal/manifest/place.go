package manifest

import "errors"

// ErrNoPlace is returned if the file was edited so that the place for a line can't be found.
var ErrNoPlace = errors.New("the place for the line wasn't found")

// inserted returns text with more inserted at an offset.
func inserted(text []byte, offset int, more string) []byte {
	out := append([]byte(nil), text[:offset]...)
	out = append(out, more...)
	return append(out, text[offset:]...)
}
