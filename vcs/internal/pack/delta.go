package pack

// leastDelta is how long a difference is at least, as git has it.
const leastDelta = 4

// sizes are how long the base of a difference is, and what it makes of that; rest is what follows them.
func sizes(delta []byte) (base, result int64, rest []byte, err error) {
	if len(delta) < leastDelta {
		return 0, 0, nil, ErrBroken
	}
	if base, rest, err = size(delta); err == nil {
		result, rest, err = size(rest)
	}
	return base, result, rest, err
}

func size(text []byte) (n int64, rest []byte, err error) {
	for i, c := range text[:min(len(text), 9)] {
		n |= int64(c&0x7f) << (7 * i)
		if c&0x80 == 0 {
			return n, text[i+1:], nil
		}
	}
	return 0, nil, ErrBroken
}

// apply makes out, which is as long as the result, of a base and what a difference says behind its sizes: parts of the base, and what is new.
func apply(out, base, delta []byte) error {
	for len(delta) > 0 {
		op := delta[0]
		delta = delta[1:]
		var from []byte
		switch {
		case op&0x80 != 0:
			var offset, length int64 // four bytes of an offset are no int everywhere
			for bit := range 7 {
				if op&(1<<bit) == 0 {
					continue
				}
				if len(delta) == 0 {
					return ErrBroken
				}
				if bit < 4 {
					offset |= int64(delta[0]) << (8 * bit)
				} else {
					length |= int64(delta[0]) << (8 * (bit - 4))
				}
				delta = delta[1:]
			}
			if length == 0 {
				length = 1 << 16
			}
			if offset+length > int64(len(base)) {
				return ErrBroken
			}
			from = base[offset : offset+length]
		case op == 0 || int(op) > len(delta):
			return ErrBroken
		default:
			from, delta = delta[:op], delta[op:]
		}
		if len(from) > len(out) {
			return ErrBroken
		}
		out = out[copy(out, from):]
	}
	if len(out) > 0 {
		return ErrBroken
	}
	return nil
}
