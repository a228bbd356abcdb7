package inflate

import "encoding/binary"

// block unpacks a block with the tables that are set, to where out is done already, and returns how far it is done then. It never writes more than Room
// bytes behind size.
func (r *Reader) block(s *stream, out []byte, done, size int) (int, error) {
	in, at, bits, left := s.in, s.at, s.bits, s.left
	for done <= size {
		if at > len(in)-8 {
			return 0, ErrCorrupt
		}
		bits |= binary.LittleEndian.Uint64(in[at:]) << (left & 63)
		at += int(63-left) >> 3
		left |= 56
		e := r.literals[bits&(1<<literalBits-1)]
		// Three literals take no more than 45 bits of the 56: as many are taken, and a code of any kind is looked at again when there are enough bits.
		if e&literal != 0 {
			bits, left = bits>>(e&63), left-uint(e&0xff)
			out[done] = byte(e >> 16)
			done++
			e = r.literals[bits&(1<<literalBits-1)]
			if e&literal != 0 {
				bits, left = bits>>(e&63), left-uint(e&0xff)
				out[done] = byte(e >> 16)
				done++
				e = r.literals[bits&(1<<literalBits-1)]
				if e&literal != 0 {
					bits, left = bits>>(e&63), left-uint(e&0xff)
					out[done] = byte(e >> 16)
					done++
					continue
				}
			}
			// At most 22 bits are gone: those of two codes of the first table. A length takes 20.
		}
		if e&more != 0 {
			bits, left = bits>>literalBits, left-literalBits
			e = r.literals[uint(e>>16)+uint(bits)&(1<<(e>>8&0xf)-1)]
		}
		bits, left = bits>>(e&63), left-uint(e&0xff)
		if e&match == 0 {
			switch {
			case e&literal != 0:
				out[done] = byte(e >> 16)
				done++
				continue
			case e&end != 0:
				s.at, s.bits, s.left = at, bits, left
				return done, nil
			}
			return 0, ErrCorrupt
		}
		extra := uint(e >> 8 & 0xf)
		length := int(e>>16) + int(bits&(1<<extra-1))
		bits, left = bits>>extra, left-extra
		if at > len(in)-8 {
			return 0, ErrCorrupt
		}
		bits |= binary.LittleEndian.Uint64(in[at:]) << (left & 63)
		at += int(63-left) >> 3
		left |= 56
		e = r.distances[bits&(1<<distanceBits-1)]
		if e&more != 0 {
			bits, left = bits>>distanceBits, left-distanceBits
			e = r.distances[uint(e>>16)+uint(bits)&(1<<(e>>8&0xf)-1)]
		}
		bits, left = bits>>(e&63), left-uint(e&0xff)
		extra = uint(e >> 8 & 0xf)
		distance := int(e>>16) + int(bits&(1<<extra-1))
		bits, left = bits>>extra, left-extra
		if e&match == 0 || distance > done {
			return 0, ErrCorrupt
		}
		again(out, done, distance, length)
		done += length
	}
	return 0, ErrCorrupt
}

// again copies what was written a distance before, up to eight bytes more than the length.
func again(out []byte, done, distance, length int) {
	from, to := out[done-distance:], out[done:done+length+8]
	if distance < 8 {
		for i := range length {
			to[i] = from[i]
		}
		return
	}
	for i := 0; i < length; i += 8 {
		binary.LittleEndian.PutUint64(to[i:], binary.LittleEndian.Uint64(from[i:]))
	}
}
