package manifest

import "errors"

// ErrNoPlace reports that the place of a line isn't where it was written at first.
var ErrNoPlace = errors.New("the place for it isn't known")

// inserted is text with another one at an offset.
func inserted(text []byte, offset int, more string) []byte {
	out := append([]byte(nil), text[:offset]...)
	out = append(out, more...)
	return append(out, text[offset:]...)
}
