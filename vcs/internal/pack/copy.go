package pack

import (
	"cmp"
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
)

// Wanted selects the objects that Copy copies from a pack.
type Wanted struct {
	// Kind reports whether an object is wanted, and returns the kind that the object must have.
	Kind func(plumbing.Hash) (kind plumbing.ObjectType, is bool)
	// Anew writes an object that is a delta in the source, if the delta can't be copied: its base isn't written, or its
	// chain would be too long.
	Anew func(plumbing.Hash) error
}

// Copy writes the wanted objects of another pack that aren't written yet, in the order of that pack. It copies them in
// their packed form, without unpacking them. A delta is copied if its base is written, and passed to Wanted.Anew
// otherwise. Copy returns an error if an object isn't of the wanted kind.
func (w *Writer) Copy(ctx context.Context, from *Pack, wanted Wanted) error {
	entries, err := from.Entries()
	if err != nil {
		return err
	}
	c := copier{Writer: w, from: from, wanted: wanted, entries: entries, reader: newReader(0, piece), buffer: make([]byte, 32<<10)}
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
	buffer  []byte
}

func (c *copier) copy(e Entry, wanted plumbing.ObjectType) error {
	h, err := c.reader.head(c.from, e.Start)
	if err != nil {
		return err
	}
	if h.start > e.End {
		return ErrBroken
	}
	one, text := written{kind: h.kind}, packedHead(h.kind, h.size)
	if h.kind.IsDelta() {
		i, found := slices.BinarySearchFunc(c.entries, h.base, func(e Entry, at int64) int { return cmp.Compare(e.Start, at) })
		if !found {
			return ErrBroken
		}
		base, is := c.places[c.entries[i].Hash]
		// Objects that Anew has written may make the chain longer than in the other pack.
		if !is || base.depth >= maxChain {
			return c.wanted.Anew(e.Hash)
		}
		one.kind, one.depth = base.kind, base.depth+1
		text = append(packedHead(plumbing.OFSDeltaObject, h.size), packedDistance(c.position-base.at)...)
	}
	if one.kind != wanted {
		return fmt.Errorf("it is a %s where a %s should be", one.kind, wanted)
	}
	return c.object(e.Hash, one, text, func() error { return c.body(h, e) })
}

// body writes the part of the object after its head. It compares the checksum of the whole object with the index. The
// reader has to be at the beginning of the object.
func (c *copier) body(h head, e Entry) error {
	sum := crc32.NewIEEE()
	object := io.TeeReader(io.LimitReader(c.reader.in, e.End-e.Start), sum)
	if _, err := io.CopyN(io.Discard, object, h.start-e.Start); err != nil {
		return err
	}
	if _, err := io.CopyBuffer(packed{c.Writer}, object, c.buffer); err != nil {
		return err
	}
	if sum.Sum32() != e.CRC {
		return fmt.Errorf("%w: the checksum of its packed content isn't the one in its index", ErrBroken)
	}
	return nil
}
