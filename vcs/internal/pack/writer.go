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
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
)

const (
	// piece is the number of bytes that are read and written at once.
	piece = 256 << 10
	// maxDepth is the maximum length of a chain of deltas, as in git. Copied chains may be longer.
	maxDepth = 50
)

// Writer writes a pack.
type Writer struct {
	// Wrote, if not nil, is called after each object with the number of objects written so far.
	Wrote func(objects int)

	out    *bufio.Writer
	sum    hash.Hash
	count  int
	places map[plumbing.Hash]written
	index  idxfile.Writer
	// zlib compresses whole objects, fast compresses deltas. Deltas are short: at a higher compression level, clearing
	// the tables would take most of the time.
	zlib, fast *zlib.Writer
	// position is the offset of the next byte. crc is the checksum of the current object so far.
	position int64
	crc      uint32
}

// written is the offset of a written object, its kind, and the length of its chain of deltas.
type written struct {
	at    int64
	kind  plumbing.ObjectType
	depth int
}

// NewWriter returns a Writer for a pack of count objects, and writes the header of the pack.
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

// object writes an object: its head, then its body.
func (w *Writer) object(hash plumbing.Hash, one written, head []byte, body func() error) error {
	one.at, w.crc = w.position, 0
	if err := errors.Join(w.write(head), body()); err != nil {
		return err
	}
	w.places[hash] = one
	w.index.Add(hash, uint64(one.at), w.crc)
	if w.Wrote != nil {
		w.Wrote(len(w.places))
	}
	return nil
}

// packed writes the packed content of an object.
type packed struct{ *Writer }

func (p packed) Write(part []byte) (int, error) { return len(part), p.write(part) }

// Whole writes an object without a delta. content is called once, and has to write size bytes.
func (w *Writer) Whole(hash plumbing.Hash, kind plumbing.ObjectType, size int64, content func(out io.Writer) error) error {
	return w.object(hash, written{kind: kind}, packedHead(kind, size), func() error {
		w.zlib.Reset(packed{w})
		return errors.Join(content(w.zlib), w.zlib.Close())
	})
}

// Delta writes an object as a delta to base, for which MayBeBase has to be true.
func (w *Writer) Delta(hash, base plumbing.Hash, delta []byte) error {
	to := w.places[base]
	head := append(packedHead(plumbing.OFSDeltaObject, int64(len(delta))), packedDistance(w.position-to.at)...)
	return w.object(hash, written{kind: to.kind, depth: to.depth + 1}, head, func() error {
		w.fast.Reset(packed{w})
		_, err := w.fast.Write(delta)
		return errors.Join(err, w.fast.Close())
	})
}

// Has reports whether an object is written.
func (w *Writer) Has(hash plumbing.Hash) bool {
	_, is := w.places[hash]
	return is
}

// MayBeBase reports whether an object is written, and its chain of deltas is short enough for another delta.
func (w *Writer) MayBeBase(hash plumbing.Hash) bool {
	one, is := w.places[hash]
	return is && one.depth < maxDepth
}

// Position returns the offset of the next object. After Finish, it is the length of the pack.
func (w *Writer) Position() int64 { return w.position }

// Finish writes the end of the pack, and returns the name of the pack.
func (w *Writer) Finish() (name plumbing.Hash, err error) {
	if len(w.places) != w.count {
		return name, fmt.Errorf("%d objects are written, but the header of the pack says %d", len(w.places), w.count)
	}
	if err := w.out.Flush(); err != nil {
		return name, err
	}
	w.sum.Sum(name[:0])
	return name, errors.Join(w.write(name[:]), w.out.Flush())
}

// WriteIndex writes the index of the pack. name is the name that Finish has returned.
func (w *Writer) WriteIndex(out io.Writer, name plumbing.Hash) error {
	if err := w.index.OnFooter(name); err != nil {
		return err
	}
	index, err := w.index.Index()
	if err != nil {
		return err
	}
	buffered := bufio.NewWriterSize(out, piece)
	_, err = idxfile.NewEncoder(buffered).Encode(index)
	return errors.Join(err, buffered.Flush())
}
