package pack

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/operkit/operkit/vcs/internal/inflate"
)

// Read unpacks an object that isn't longer than that, or it is ErrTooLarge. The content is good until the next call, and isn't to be changed.
func (r *Reader) Read(p *Pack, at, most int64) (plumbing.ObjectType, []byte, error) {
	base, err := r.base(p, at, most)
	if err != nil {
		return 0, nil, err
	}
	for i := len(r.chain) - 1; i >= 0; i-- {
		limit := int64(math.MaxInt64)
		if i == 0 {
			limit = most
		}
		if base.text, err = r.apply(p, r.chain[i], base.text, limit); err != nil {
			return 0, nil, err
		}
		r.cache.put(place{p, r.chain[i].at}, base)
	}
	if int64(len(base.text)) > most {
		return 0, nil, ErrTooLarge
	}
	return base.kind, base.text, nil
}

// base unpacks what an object is made of, or finds that, or itself if it is no difference, and leaves in chain the differences that follow, the last
// one first.
func (r *Reader) base(p *Pack, at, most int64) (content, error) {
	r.chain = r.chain[:0]
	for {
		if found, is := r.cache.get(place{p, at}); is {
			return found, nil
		}
		h, err := r.head(p, at)
		if err != nil {
			return content{}, err
		}
		if !h.isDelta() {
			switch {
			case len(r.chain) > 0 && h.size > mostDelta:
				return content{}, errLongDelta
			case len(r.chain) == 0 && h.size > most:
				return content{}, ErrTooLarge
			}
			base := content{kind: h.kind, text: r.result(h.size)}
			if err := r.unpack(p, h, base.text); err != nil {
				return content{}, err
			}
			r.cache.put(place{p, at}, base)
			return base, nil
		}
		if len(r.chain) == mostChain {
			return content{}, errEndless
		}
		r.chain = append(r.chain, h)
		at = h.base
	}
}

// apply makes what a difference makes of its base.
func (r *Reader) apply(p *Pack, h head, base []byte, most int64) ([]byte, error) {
	delta, err := r.unpackDelta(p, h)
	if err != nil {
		return nil, err
	}
	from, size, delta, err := sizes(delta)
	switch {
	case err != nil:
		return nil, err
	case from != int64(len(base)):
		return nil, ErrBroken
	case size > most:
		return nil, ErrTooLarge
	case size > mostDelta:
		return nil, errLongDelta
	}
	result := r.result(size)
	return result, apply(result, base, delta)
}

// result is memory for an object: one of its own if it is kept, otherwise what isn't that of the last one.
func (r *Reader) result(size int64) []byte {
	if r.cache.keeps(size) {
		return buffer(nil, size, inflate.Room)
	}
	r.turn ^= 1
	r.results[r.turn] = buffer(r.results[r.turn], size, inflate.Room)
	return r.results[r.turn]
}

func (r *Reader) unpackDelta(p *Pack, h head) ([]byte, error) {
	if h.size > mostDelta {
		return nil, errLongDelta
	}
	r.delta = buffer(r.delta, h.size, inflate.Room)
	return r.delta, r.unpack(p, h, r.delta)
}

// unpack unpacks what follows a head.
func (r *Reader) unpack(p *Pack, h head, out []byte) error {
	// That is what it takes when it can't be packed. What somebody packs so that it takes more is unpacked slowly.
	enough := h.size + h.size/1024 + 64
	in, err := r.load(p, h.start, min(enough, p.end-h.start))
	if err != nil {
		return err
	}
	if err = r.inflate.Zlib(out, in); err == nil {
		return nil
	}
	if int64(len(in)) == p.end-h.start {
		return fmt.Errorf("%w: %w", ErrBroken, err)
	}
	return unpackSlowly(p, h, out)
}

func unpackSlowly(p *Pack, h head, out []byte) error {
	slow, err := stream(p, h)
	if err != nil {
		return err
	}
	if _, err = io.ReadFull(slow, out); err == nil {
		if _, err = io.ReadFull(slow, make([]byte, 1)); errors.Is(err, io.EOF) {
			return nil
		}
	}
	if errors.Is(err, ErrBroken) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrBroken, inflate.ErrCorrupt) // it is longer, or shorter, than it says
}
