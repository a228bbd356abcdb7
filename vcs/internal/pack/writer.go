package pack

import (
	"bufio"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
)

const (
	// piece is how much is read and written at once.
	piece = 256 << 10
	// mostDepth is how many differences may follow each other, as git has it, unless the pack has them that are copied.
	mostDepth = 50
)

// Writer writes a pack.
type Writer struct {
	out    *bufio.Writer
	sum    hash.Hash
	count  int
	places map[plumbing.Hash]written
	index  []indexed
	// zlib packs what is whole, fast differences: these are short, and most of the time goes into clearing tables.
	zlib, fast *zlib.Writer
	// position is where the next byte goes, crc the sum of what is written of an object.
	position int64
	crc      uint32
	// Wrote is told after each object how many there are, if it is set.
	Wrote func(objects int)
}

// written is what is known of an object that is, depth how many differences it takes to make it.
type written struct {
	at    int64
	kind  plumbing.ObjectType
	depth int
}

// NewWriter begins a pack that will have so many objects.
func NewWriter(out io.Writer, count int) (*Writer, error) {
	fast, err := zlib.NewWriterLevel(nil, zlib.BestSpeed)
	if err != nil {
		return nil, err
	}
	w := &Writer{sum: sha1.New(), count: count, places: make(map[plumbing.Hash]written, count), zlib: zlib.NewWriter(nil), fast: fast}
	w.out = bufio.NewWriterSize(io.MultiWriter(out, w.sum), piece)
	return w, w.write(binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), uint32(count)))
}

func (w *Writer) write(part []byte) error {
	w.crc = crc32.Update(w.crc, crc32.IEEETable, part)
	n, err := w.out.Write(part)
	w.position += int64(n)
	return err
}

// object writes an object: its head and what follows.
func (w *Writer) object(hash plumbing.Hash, one written, head []byte, body func() error) error {
	one.at = w.position
	w.crc = 0
	if err := errors.Join(w.write(head), body()); err != nil {
		return err
	}
	w.places[hash] = one
	w.index = append(w.index, indexed{hash, one.at, w.crc})
	if w.Wrote != nil {
		w.Wrote(len(w.places))
	}
	return nil
}

// packed is where the packed content of an object goes.
type packed struct{ *Writer }

func (p packed) Write(part []byte) (int, error) { return len(part), p.write(part) }

// Whole writes an object that is no difference, which is written for that.
func (w *Writer) Whole(hash plumbing.Hash, kind plumbing.ObjectType, size int64, content func(out io.Writer) error) error {
	return w.object(hash, written{kind: kind}, Head(kind, size), func() error {
		w.zlib.Reset(packed{w})
		return errors.Join(content(w.zlib), w.zlib.Close())
	})
}

// Delta writes an object as a difference to one that is written and may be a base.
func (w *Writer) Delta(hash, base plumbing.Hash, delta []byte) error {
	to := w.places[base]
	head := append(Head(plumbing.OFSDeltaObject, int64(len(delta))), Distance(w.position-to.at)...)
	return w.object(hash, written{kind: to.kind, depth: to.depth + 1}, head, func() error {
		w.fast.Reset(packed{w})
		_, err := w.fast.Write(delta)
		return errors.Join(err, w.fast.Close())
	})
}

// Has tells whether an object is written.
func (w *Writer) Has(hash plumbing.Hash) bool {
	_, is := w.places[hash]
	return is
}

// MayBeBase tells whether an object is written and isn't at the end of many differences.
func (w *Writer) MayBeBase(hash plumbing.Hash) bool {
	one, is := w.places[hash]
	return is && one.depth < mostDepth
}

// Position is where the next object will be.
func (w *Writer) Position() int64 { return w.position }

// Finish writes the end of the pack, and returns its name.
func (w *Writer) Finish() (name plumbing.Hash, err error) {
	if len(w.places) != w.count {
		return name, fmt.Errorf("%d objects are written into a pack that begins with %d", len(w.places), w.count)
	}
	if err := w.out.Flush(); err != nil {
		return name, err
	}
	w.sum.Sum(name[:0])
	return name, errors.Join(w.write(name[:]), w.out.Flush())
}
