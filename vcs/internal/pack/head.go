package pack

import (
	"errors"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
)

// ErrBroken says that a pack or its index isn't what it has to be.
var ErrBroken = errors.New("the pack is broken")

// longestHead is how long the head of an object may be, with the base of a difference.
const longestHead = 10 + len(plumbing.Hash{})

// Head is the kind of an object and its length, as an object begins in a pack. Differences have a kind of their own.
func Head(kind plumbing.ObjectType, size int64) (head []byte) {
	c := byte(kind)<<4 | byte(size&0x0f)
	for size >>= 4; size > 0; size >>= 7 {
		head = append(head, c|0x80)
		c = byte(size & 0x7f)
	}
	return append(head, c)
}

// ParseHead is the inverse of Head: length is how long the head is.
func ParseHead(text []byte) (kind plumbing.ObjectType, size int64, length int, err error) {
	for i, c := range text[:min(len(text), 9)] {
		if i == 0 {
			kind, size = plumbing.ObjectType(c>>4&7), int64(c&0x0f)
		} else {
			size |= int64(c&0x7f) << (7*i - 3)
		}
		if c&0x80 == 0 {
			return kind, size, i + 1, nil
		}
	}
	return 0, 0, 0, ErrBroken
}

// Distance is how far before a difference its base is.
func Distance(n int64) []byte {
	bytes := []byte{byte(n & 0x7f)}
	for n >>= 7; n > 0; n >>= 7 {
		n--
		bytes = append(bytes, byte(n&0x7f)|0x80)
	}
	slices.Reverse(bytes)
	return bytes
}

// ParseDistance is the inverse of Distance.
func ParseDistance(text []byte) (n int64, length int, err error) {
	for i, c := range text[:min(len(text), 8)] {
		if i > 0 {
			n++
		}
		n = n<<7 | int64(c&0x7f)
		if c&0x80 == 0 {
			return n, i + 1, nil
		}
	}
	return 0, 0, ErrBroken
}
