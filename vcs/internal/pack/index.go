package pack

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"sync/atomic"

	"github.com/go-git/go-git/v5/plumbing"
)

const (
	hashSize = int64(len(plumbing.Hash{}))
	// indexHead is the offset of the names in an index. They follow the signature, the version, and 256 counts: for
	// each first byte, the number of names up to this byte.
	indexHead = 8 + 256*4
)

// index maps the objects of a pack to their places. Each part, with the names of one first byte, is read when it is
// first needed. An index is safe for concurrent use.
type index struct {
	file  *os.File
	count int64
	// far is the number of places that need eight bytes.
	far int64
	// ends has the number of names up to each first byte.
	ends  [256]uint32
	parts [256]atomic.Pointer[part]
}

// part holds the names with one first byte, and the checksums and places of their objects.
type part struct {
	names, sums, places []byte
}

func openIndex(file *os.File) (*index, error) {
	x := &index{file: file}
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	head := make([]byte, indexHead)
	if _, err := file.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if !bytes.HasPrefix(head, []byte("\xfftOc")) {
		return nil, fmt.Errorf("%w: its index has version 1, or isn't an index: make a new index with 'git index-pack'", ErrBroken)
	}
	if version := binary.BigEndian.Uint32(head[4:]); version != 2 {
		return nil, fmt.Errorf("%w: its index is of version %d: only version 2 can be read", ErrBroken, version)
	}
	for i := range x.ends {
		x.ends[i] = binary.BigEndian.Uint32(head[8+4*i:])
		if i > 0 && x.ends[i] < x.ends[i-1] {
			return nil, fmt.Errorf("%w: its index is out of order", ErrBroken)
		}
	}
	x.count = int64(x.ends[255])
	// Each name has a checksum and a place of four bytes each. The index ends with two checksums, of the pack and of
	// the index.
	rest := info.Size() - indexHead - x.count*(hashSize+8) - 2*hashSize
	if x.far = rest / 8; rest < 0 || rest%8 != 0 {
		return nil, fmt.Errorf("%w: the length of its index is wrong", ErrBroken)
	}
	return x, nil
}

// part returns the part of a first byte. It reads the part if nobody has read it before.
func (x *index) part(first byte) (*part, error) {
	if p := x.parts[first].Load(); p != nil {
		return p, nil
	}
	from, to := int64(0), int64(x.ends[first])
	if first > 0 {
		from = int64(x.ends[first-1])
	}
	p := &part{names: make([]byte, (to-from)*hashSize), sums: make([]byte, (to-from)*4), places: make([]byte, (to-from)*4)}
	for _, one := range []struct {
		into []byte
		at   int64
	}{{p.names, indexHead + from*hashSize}, {p.sums, indexHead + x.count*hashSize + from*4}, {p.places, indexHead + x.count*(hashSize+4) + from*4}} {
		if _, err := x.file.ReadAt(one.into, one.at); err != nil {
			return nil, err
		}
	}
	x.parts[first].Store(p)
	return p, nil
}

func (p *part) count() int        { return len(p.names) / int(hashSize) }
func (p *part) name(i int) []byte { return p.names[i*int(hashSize):][:hashSize] }

// find returns the offset of an object in the pack.
func (x *index) find(hash plumbing.Hash) (at int64, found bool, err error) {
	p, err := x.part(hash[0])
	if err != nil {
		return 0, false, err
	}
	i := sort.Search(p.count(), func(i int) bool { return bytes.Compare(p.name(i), hash[:]) >= 0 })
	if i == p.count() || !bytes.Equal(p.name(i), hash[:]) {
		return 0, false, nil
	}
	at, err = x.place(p, i)
	return at, err == nil, err
}

// place returns the offset in the pack of object i of a part.
func (x *index) place(p *part, i int) (int64, error) {
	at := int64(binary.BigEndian.Uint32(p.places[4*i:]))
	if at < 1<<31 {
		return at, nil
	}
	if at -= 1 << 31; at >= x.far {
		return 0, fmt.Errorf("%w: its index lacks the offset of an object", ErrBroken)
	}
	var text [8]byte
	if _, err := x.file.ReadAt(text[:], indexHead+x.count*(hashSize+8)+8*at); err != nil {
		return 0, err
	}
	if at = int64(binary.BigEndian.Uint64(text[:])); at < 0 {
		return 0, fmt.Errorf("%w: its index has an impossible offset", ErrBroken)
	}
	return at, nil
}
