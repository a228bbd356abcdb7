package pack

import (
	"cmp"
	"context"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
)

// Wanted is what is copied of a pack.
type Wanted struct {
	// Kind tells whether an object is wanted, and as what.
	Kind func(plumbing.Hash) (kind plumbing.ObjectType, is bool)
	// Anew writes one that is a difference to what isn't wanted.
	Anew func(plumbing.Hash) error
}

// Copy writes those objects of another pack that are wanted, and not written yet, in its order and as they are packed there: neither they nor what they
// are differences to is unpacked, as long as that is wanted, too. It fails if one isn't of the kind that is wanted.
func (w *Writer) Copy(ctx context.Context, from *Pack, wanted Wanted) error {
	entries, err := from.Entries()
	if err != nil {
		return err
	}
	c := copier{Writer: w, from: from, wanted: wanted, entries: entries, reader: &Reader{window: piece}}
	for _, e := range entries {
		kind, is := wanted.Kind(e.Hash)
		if w.Has(e.Hash) || !is {
			continue
		}
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if err := c.copy(e, kind); err != nil {
			return fmt.Errorf("object %s: %w", e.Hash, err)
		}
	}
	return nil
}

type copier struct {
	*Writer
	from    *Pack
	wanted  Wanted
	entries []Entry
	reader  *Reader
}

func (c *copier) copy(e Entry, wanted plumbing.ObjectType) error {
	h, err := c.reader.head(c.from, e.Start)
	if err != nil {
		return err
	}
	if h.start > e.End {
		return ErrBroken
	}
	one, text := written{kind: h.kind}, Head(h.kind, h.size)
	if h.isDelta() {
		base, found := slices.BinarySearchFunc(c.entries, h.base, func(e Entry, at int64) int { return cmp.Compare(e.Start, at) })
		if !found {
			return ErrBroken
		}
		there, is := c.places[c.entries[base].Hash]
		if !is || there.depth >= mostChain { // what was written anew may have made the chain longer than it is in the other pack
			return c.wanted.Anew(e.Hash)
		}
		one.kind, one.depth, text = there.kind, there.depth+1, append(Head(plumbing.OFSDeltaObject, h.size), Distance(c.position-there.at)...)
	}
	if one.kind != wanted {
		return fmt.Errorf("it is a %s where a %s should be", one.kind, wanted)
	}
	return c.object(e.Hash, one, text, func() error { return c.body(h, e) })
}

// body writes what follows a head, and compares all of the object with the sum that its index has of it.
func (c *copier) body(h head, e Entry) error {
	sum := uint32(0)
	err := c.reader.pieces(c.from, e.Start, e.End, func(at int64, piece []byte) error {
		sum = crc32.Update(sum, crc32.IEEETable, piece)
		if skip := h.start - at; skip > 0 {
			piece = piece[min(skip, int64(len(piece))):]
		}
		return c.write(piece)
	})
	if err == nil && sum != e.CRC {
		err = fmt.Errorf("%w: its packed content isn't what its index says", ErrBroken)
	}
	return err
}
