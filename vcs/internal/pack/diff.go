package pack

import (
	"encoding/binary"
	"math/bits"
)

const (
	// block is the minimum number of equal bytes for which a part of the base is used.
	block = 16
	// minDelta is the minimum length of a delta, as in git.
	minDelta = 4
	// maxTried is the maximum number of places in the base that are tried for one place in the text.
	maxTried = 32
	// maxCopied and maxNew are the maximum lengths of the part of the base, and of the new text, in one instruction.
	maxCopied = 1 << 16
	maxNew    = 127
)

// Diff returns the delta that turns base into text. It returns nil if the delta would be longer than half of text. Both
// arguments have to be shorter than 2 GiB.
func Diff(base, text []byte) []byte {
	d := differ{base: base, text: text, limit: len(text) / 2}
	d.index()
	d.out = binary.AppendUvarint(binary.AppendUvarint(nil, uint64(len(base))), uint64(len(text)))
	for at := 0; at+block <= len(text) && len(d.out) <= d.limit; {
		from, to, length := d.match(at)
		if length == 0 {
			at++
			continue
		}
		d.add(d.text[d.done:to])
		d.copy(from, length)
		d.done = to + length
		at = d.done
	}
	d.add(d.text[d.done:])
	if len(d.out) > d.limit || len(d.out) < minDelta {
		return nil
	}
	return d.out
}

// differ finds parts of a base in a text.
type differ struct {
	base, text, out []byte
	// limit is the maximum length of out. done is the length of the text that out has already.
	limit, done int
	// first and next are linked lists of the blocks of the base, one list for each sum. first has the first block of
	// each list, next the block after each block. The values are the number of the block + 1, or 0 for none.
	first, next []int32
	shift       int
}

// sum returns a hash of the first block of a text, as an index of d.first.
func (d *differ) sum(text []byte) uint64 {
	a, b := binary.LittleEndian.Uint64(text), binary.LittleEndian.Uint64(text[8:])
	return ((a * 0x9e3779b97f4a7c15) ^ (bits.RotateLeft64(b, 29) * 0xc2b2ae3d27d4eb4f)) * 0xff51afd7ed558ccd >> d.shift
}

// index adds all blocks of the base, beginning with the last one. So blocks with the same sum are tried in their order
// in the base.
func (d *differ) index() {
	count := len(d.base) / block
	width := max(bits.Len(uint(count)), 4)
	d.shift = 64 - width
	d.first, d.next = make([]int32, 1<<width), make([]int32, count)
	for i := count - 1; i >= 0; i-- {
		sum := d.sum(d.base[i*block:])
		d.next[i], d.first[sum] = d.first[sum], int32(i+1)
	}
}

// match returns the longest part of the base that the text has at a place. The part may begin before this place, but
// not before d.done.
func (d *differ) match(at int) (from, to, length int) {
	text := d.text[at:]
	i := d.first[d.sum(text)]
	for tries := 0; i > 0 && tries < maxTried; tries++ {
		start := int(i-1) * block
		i = d.next[i-1]
		n := common(d.base[start:], text)
		if n < block {
			continue
		}
		back := 0
		for back < start && at-back > d.done && d.base[start-back-1] == d.text[at-back-1] {
			back++
		}
		if n+back > length {
			from, to, length = start-back, at-back, n+back
		}
	}
	return from, to, length
}

// common returns the number of equal bytes at the beginning.
func common(a, b []byte) (n int) {
	for len(a)-n >= 8 && len(b)-n >= 8 {
		if other := binary.LittleEndian.Uint64(a[n:]) ^ binary.LittleEndian.Uint64(b[n:]); other != 0 {
			return n + bits.TrailingZeros64(other)/8
		}
		n += 8
	}
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// add appends an instruction that inserts new text.
func (d *differ) add(text []byte) {
	for len(text) > 0 {
		n := min(len(text), maxNew)
		d.out = append(append(d.out, byte(n)), text[:n]...)
		text = text[n:]
	}
}

// copy appends an instruction that copies a part of the base.
func (d *differ) copy(from, length int) {
	for length > 0 {
		n := min(length, maxCopied)
		op := len(d.out)
		d.out = append(d.out, 0x80)
		for i := range 4 {
			if c := byte(from >> (8 * i)); c != 0 {
				d.out[op] |= 1 << i
				d.out = append(d.out, c)
			}
		}
		for i := range 2 {
			if c := byte(n >> (8 * i)); c != 0 { // no byte means maxCopied
				d.out[op] |= 1 << (4 + i)
				d.out = append(d.out, c)
			}
		}
		from, length = from+n, length-n
	}
}
