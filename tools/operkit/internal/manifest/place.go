package manifest

import "errors"

// ErrNoPlace reports that the place for a line is no longer where it was when the file was first written.
var ErrNoPlace = errors.New("the place for it isn't known")

// inserted is text with another one at an offset.
func inserted(text []byte, offset int, more string) []byte {
	out := append([]byte(nil), text[:offset]...)
	out = append(out, more...)
	return append(out, text[offset:]...)
}
