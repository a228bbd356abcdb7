package inflate

import "math/bits"

// An entry of a table says what the next bits mean. In its lowest byte it has how many of them it takes; then, each by a flag:
//
//	literal  the byte, from bit 16 on
//	match    the base of a length or distance from bit 16 on, and how many more bits are added to it, from bit 8 on
//	more     where another table begins, from bit 16 on, and how many bits it takes, from bit 8 on
//	end      nothing
//
// An entry without a flag is no code.
type entry uint32

const (
	literal entry = 1 << 15
	match   entry = 1 << 14
	more    entry = 1 << 13
	end     entry = 1 << 12
)

const (
	// literalBits and distanceBits are how many bits a table looks at first: most codes aren't longer.
	literalBits, distanceBits = 11, 8
	// longestCode is that of deflate.
	longestCode = 15
	// literalCodes and distanceCodes are how many there are.
	literalCodes, distanceCodes = 286, 30
)

// A table has the entries of codes that aren't longer than its bits first. Behind them are tables for those that are, one for each beginning: of those
// there are two codes at least.
type (
	literalTable  [1<<literalBits + literalCodes/2<<(longestCode-literalBits)]entry
	distanceTable [1<<distanceBits + distanceCodes/2<<(longestCode-distanceBits)]entry
)

// build fills a table that looks at width bits first, out of the lengths of codes and the entries that they stand for. It is false if there is no such
// code: one that isn't complete may only be a single bit, or nothing.
func build(table []entry, width uint, lengths []uint8, entries []entry) bool {
	var counts, next [longestCode + 2]uint16
	for _, length := range lengths {
		counts[length]++
	}
	counts[0] = 0
	code, longest := uint16(0), uint(0)
	room := 1 << longestCode
	for length := uint(1); length <= longestCode; length++ {
		next[length] = code
		code = (code + counts[length]) << 1
		room -= int(counts[length]) << (longestCode - length)
		if counts[length] > 0 {
			longest = length
		}
	}
	if room < 0 || room > 0 && longest > 1 {
		return false
	}
	clear(table[:1<<width])
	free := 1 << width
	for symbol, length := range lengths {
		if length == 0 {
			continue
		}
		length := uint(length)
		reversed := int(bits.Reverse16(next[length]) >> (16 - length))
		next[length]++
		if length <= width {
			e := entries[symbol] | entry(length)
			for at := reversed; at < 1<<width; at += 1 << length {
				table[at] = e
			}
			continue
		}
		first := &table[reversed&(1<<width-1)]
		if *first == 0 {
			*first = more | entry(free)<<16 | entry(longest-width)<<8 | entry(width)
			clear(table[free : free+1<<(longest-width)])
			free += 1 << (longest - width)
		}
		base := int(*first >> 16)
		for at := reversed >> width; at < 1<<(longest-width); at += 1 << (length - width) {
			table[base+at] = entries[symbol] | entry(length-width)
		}
	}
	return true
}

var literalEntries, distanceEntries = func() (literals [literalCodes + 2]entry, distances [distanceCodes + 2]entry) {
	for i := range 256 {
		literals[i] = literal | entry(i)<<16
	}
	literals[256] = end
	base := 3
	for i := range 28 {
		extra := max(0, i/4-1)
		literals[257+i] = match | entry(base)<<16 | entry(extra)<<8
		base += 1 << extra
	}
	literals[285] = match | 258<<16
	base = 1
	for i := range distanceCodes {
		extra := max(0, i/2-1)
		distances[i] = match | entry(base)<<16 | entry(extra)<<8
		base += 1 << extra
	}
	return literals, distances
}()

// useFixed has the tables be those of blocks that bring none.
func (r *Reader) useFixed() {
	if r.fixed {
		return
	}
	r.fixed = true
	var lengths [literalCodes + 2]uint8
	for i := range lengths {
		switch {
		case i < 144, i >= 280:
			lengths[i] = 8
		case i < 256:
			lengths[i] = 9
		default:
			lengths[i] = 7
		}
	}
	build(r.literals[:], literalBits, lengths[:], literalEntries[:])
	var distances [distanceCodes + 2]uint8
	for i := range distances {
		distances[i] = 5
	}
	build(r.distances[:], distanceBits, distances[:], distanceEntries[:])
}

// order is that of the lengths of the codes in which the lengths of the others are written.
var order = [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// codeBits is how long these codes may be; codeEntries are what they stand for.
const codeBits = 7

var codeEntries = func() (entries [len(order)]entry) {
	for i := range entries {
		entries[i] = literal | entry(i)<<16
	}
	return entries
}()

// readTables reads the tables of a block that brings its own.
func (r *Reader) readTables(s *stream) error {
	r.fixed = false
	literals, distances, codes := int(s.take(5))+257, int(s.take(5))+1, int(s.take(4))+4
	if literals > literalCodes || distances > distanceCodes || !s.refill() {
		return ErrCorrupt
	}
	var lengths [literalCodes + distanceCodes]uint8
	for i, at := range order[:codes] {
		if i == 16 && !s.refill() {
			return ErrCorrupt
		}
		lengths[at] = uint8(s.take(3))
	}
	var table [1 << codeBits]entry
	if !build(table[:], codeBits, lengths[:len(order)], codeEntries[:]) {
		return ErrCorrupt
	}
	clear(lengths[:len(order)])
	for at := 0; at < literals+distances; {
		if !s.refill() {
			return ErrCorrupt
		}
		e := table[s.bits&(1<<codeBits-1)]
		if e == 0 {
			return ErrCorrupt
		}
		s.take(uint(e & 0xff))
		symbol, value, times := int(e>>16), uint8(e>>16), 1
		switch symbol {
		case 16:
			if at == 0 {
				return ErrCorrupt
			}
			value, times = lengths[at-1], 3+int(s.take(2))
		case 17:
			value, times = 0, 3+int(s.take(3))
		case 18:
			value, times = 0, 11+int(s.take(7))
		}
		if at+times > literals+distances {
			return ErrCorrupt
		}
		for range times {
			lengths[at] = value
			at++
		}
	}
	if !build(r.literals[:], literalBits, lengths[:literals], literalEntries[:]) || !build(r.distances[:], distanceBits, lengths[literals:literals+distances], distanceEntries[:]) {
		return ErrCorrupt
	}
	return nil
}
