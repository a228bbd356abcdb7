package inflate

import (
	"encoding/binary"
	"errors"
)

// ErrCorrupt says that something isn't a zlib stream of the given length.
var ErrCorrupt = errors.New("its packed content is broken")

// Slack is how many bytes have to follow the input, whatever they are: they are loaded, but not used.
const Slack = 16

// Room is how many bytes the output has to have behind its end, up to its capacity: for two letters, the longest match, and what is written with its end.
const Room = 2 + 258 + 8

// Reader unpacks, one stream at a time. The zero value is ready.
type Reader struct {
	literals  literalTable
	distances distanceTable
	fixed     bool // the tables are those of blocks with fixed codes
}

// stream is where a Reader is. The lowest left bits of bits are the next ones of in, from at on are those that aren't in it yet.
type stream struct {
	in   []byte
	at   int
	bits uint64
	left uint
}

// Zlib unpacks a stream that is as long as out, and takes all of in or less. Behind out there has to be Room, and Slack behind in.
func (r *Reader) Zlib(out, in []byte) (err error) {
	if len(in) < 2 || in[0]&0x0f != 8 || in[0]>>4 > 7 || in[1]&0x20 != 0 || (uint(in[0])<<8|uint(in[1]))%31 != 0 {
		return ErrCorrupt
	}
	s := stream{in: in[:len(in)+Slack], at: 2}
	size, done := len(out), 0
	out = out[:size+Room]
	for last := false; !last; {
		if !s.refill() {
			return ErrCorrupt
		}
		last = s.take(1) == 1
		switch s.take(2) {
		case 0:
			done, err = s.stored(out, done, size)
		case 1:
			r.useFixed()
			done, err = r.block(&s, out, done, size)
		case 2:
			if err = r.readTables(&s); err == nil {
				done, err = r.block(&s, out, done, size)
			}
		default:
			err = ErrCorrupt
		}
		if err != nil {
			return err
		}
	}
	if sum := s.at - int(s.left>>3); done != size || sum+4 > len(in) {
		return ErrCorrupt
	}
	return nil
}

// refill has 56 bits ready at least. It is false behind the end of the input, where no stream that is whole gets to.
func (s *stream) refill() bool {
	if s.at > len(s.in)-8 {
		return false
	}
	s.bits |= binary.LittleEndian.Uint64(s.in[s.at:]) << s.left
	s.at += int(63-s.left) >> 3
	s.left |= 56
	return true
}

// take takes a few bits off.
func (s *stream) take(count uint) uint64 {
	bits := s.bits & (1<<count - 1)
	s.bits >>= count
	s.left -= count
	return bits
}

// stored copies a block that isn't packed.
func (s *stream) stored(out []byte, done, size int) (int, error) {
	from := s.at - int(s.left>>3)
	s.bits, s.left = 0, 0
	if from+4 > len(s.in)-Slack {
		return 0, ErrCorrupt
	}
	length := int(binary.LittleEndian.Uint16(s.in[from:]))
	if uint16(length) != ^binary.LittleEndian.Uint16(s.in[from+2:]) {
		return 0, ErrCorrupt
	}
	from += 4
	if from+length > len(s.in)-Slack || done+length > size {
		return 0, ErrCorrupt
	}
	copy(out[done:], s.in[from:from+length])
	s.at = from + length
	return done + length, nil
}
