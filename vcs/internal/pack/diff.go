package pack

import (
	"encoding/binary"
	"math/bits"
)

const (
	// block is how many bytes have to be the same for a part of the base to be used.
	block = 16
	// mostTried is how many places in the base are tried for one in the text.
	mostTried = 32
	// mostCopied and mostNew are how long a part of the base, and what is new, may be in one order of a difference.
	mostCopied = 1 << 16
	mostNew    = 127
)

// Diff is the difference of a text to a base, both shorter than 2 GiB. It is nil if there is little that they have in common. What git makes of the same is
// about as long; what go-git makes may be ten times that.
func Diff(base, text []byte) []byte {
	d := differ{base: base, text: text, most: len(text) / 2}
	d.index()
	d.out = binary.AppendUvarint(binary.AppendUvarint(nil, uint64(len(base))), uint64(len(text)))
	for at := 0; at+block <= len(text) && len(d.out) <= d.most; {
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
	if len(d.out) > d.most || len(d.out) < leastDelta {
		return nil
	}
	return d.out
}

// differ finds parts of a base in a text.
type differ struct {
	base, text, out []byte
	// most is how long out may be, done how much of the text is in it.
	most, done int
	// first is where in the base the blocks are that have the same sum, next where the next one of them is; both are one more than that.
	first, next []int32
	shift       int
}

// sum is one of the first block of a text, of as many bits as the index has.
func (d *differ) sum(text []byte) uint64 {
	a, b := binary.LittleEndian.Uint64(text), binary.LittleEndian.Uint64(text[8:])
	return ((a * 0x9e3779b97f4a7c15) ^ (bits.RotateLeft64(b, 29) * 0xc2b2ae3d27d4eb4f)) * 0xff51afd7ed558ccd >> d.shift
}

// index notes all blocks of the base, the first ones of the same sum last, so that they are tried first.
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

// match finds the longest part of the base that is at a place of the text, and maybe begins before it, where nothing is done yet.
func (d *differ) match(at int) (from, to, length int) {
	text := d.text[at:]
	i := d.first[d.sum(text)]
	for tries := 0; i > 0 && tries < mostTried; tries++ {
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

// common is how many bytes are the same at the beginning.
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

// add adds what is new.
func (d *differ) add(text []byte) {
	for len(text) > 0 {
		n := min(len(text), mostNew)
		d.out = append(append(d.out, byte(n)), text[:n]...)
		text = text[n:]
	}
}

// copy adds a part of the base.
func (d *differ) copy(from, length int) {
	for length > 0 {
		n := min(length, mostCopied)
		order := len(d.out)
		d.out = append(d.out, 0x80)
		for i := range 4 {
			if c := byte(from >> (8 * i)); c != 0 {
				d.out[order] |= 1 << i
				d.out = append(d.out, c)
			}
		}
		for i := range 2 {
			if c := byte(n >> (8 * i)); c != 0 { // of the most none is written
				d.out[order] |= 1 << (4 + i)
				d.out = append(d.out, c)
			}
		}
		from, length = from+n, length-n
	}
}
