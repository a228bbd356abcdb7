package pack

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
)

// ErrBroken means that a pack or its index is invalid.
var ErrBroken = errors.New("the pack is broken")

// maxHead is the maximum length of an object's head, including the base of a delta.
const maxHead = 12 + hashSize

// packedHead returns the head of an object in a pack: its kind and its length. Deltas have kinds of their own.
func packedHead(kind plumbing.ObjectType, size int64) []byte {
	first := byte(kind)<<4 | byte(size&0x0f)
	if size >>= 4; size == 0 {
		return []byte{first}
	}
	return binary.AppendUvarint([]byte{first | 0x80}, uint64(size))
}

// parseHead is the inverse of packedHead. length is the length of the head.
func parseHead(text []byte) (kind plumbing.ObjectType, size int64, length int, err error) {
	if len(text) == 0 {
		return 0, 0, 0, ErrBroken
	}
	kind, size, length = plumbing.ObjectType(text[0]>>4&7), int64(text[0]&0x0f), 1
	if text[0]&0x80 != 0 {
		rest, n := binary.Uvarint(text[1:])
		if n <= 0 || rest >= 1<<59 {
			return 0, 0, 0, ErrBroken
		}
		size, length = size|int64(rest)<<4, length+n
	}
	return kind, size, length, nil
}

// packedDistance encodes the distance from a delta back to its base, in bytes, as in a pack.
func packedDistance(n int64) []byte {
	bytes := []byte{byte(n & 0x7f)}
	for n >>= 7; n > 0; n >>= 7 {
		n--
		bytes = append(bytes, byte(n&0x7f)|0x80)
	}
	slices.Reverse(bytes)
	return bytes
}

// parseDistance is the inverse of packedDistance.
func parseDistance(text []byte) (n int64, length int, err error) {
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

// resultSize returns the length of a delta's result. A delta begins with the length of its base and this length.
func resultSize(delta []byte) (int64, error) {
	_, n := binary.Uvarint(delta)
	if n > 0 {
		size, m := binary.Uvarint(delta[n:])
		if m > 0 && size < 1<<62 {
			return int64(size), nil
		}
	}
	return 0, ErrBroken
}
