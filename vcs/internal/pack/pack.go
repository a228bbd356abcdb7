package pack

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// packHead is the length of the header of a pack: its signature, its version, and the number of its objects.
const packHead = 12

// Pack is an open pack. It is safe for concurrent use; each goroutine needs its own Reader.
type Pack struct {
	file  *os.File
	index *index
	// end is the offset after the last object.
	end int64
}

// Open opens a pack and its index. Close closes both files. If Open returns an error, it has closed them.
func Open(file, indexFile *os.File) (*Pack, error) {
	p := &Pack{file: file}
	var err error
	if p.index, err = openIndex(indexFile); err == nil {
		err = p.check()
	}
	if err != nil {
		return nil, errors.Join(err, file.Close(), indexFile.Close())
	}
	return p, nil
}

// Close closes the files.
func (p *Pack) Close() error { return errors.Join(p.file.Close(), p.index.file.Close()) }

// check compares the pack with its index.
func (p *Pack) check() error {
	info, err := p.file.Stat()
	if err != nil {
		return err
	}
	p.end = info.Size() - hashSize
	var head [packHead]byte
	if p.end < packHead {
		return fmt.Errorf("%w: it is too short", ErrBroken)
	}
	if _, err := p.file.ReadAt(head[:], 0); err != nil {
		return err
	}
	version, count := binary.BigEndian.Uint32(head[4:]), binary.BigEndian.Uint32(head[8:])
	if string(head[:4]) != "PACK" || version != 2 && version != 3 {
		return fmt.Errorf("%w: it isn't a pack of version 2 or 3", ErrBroken)
	}
	if int64(count) != p.index.count {
		return fmt.Errorf("%w: it has %d objects, but its index has %d", ErrBroken, count, p.index.count)
	}
	var sum, wanted plumbing.Hash
	if _, err := p.file.ReadAt(sum[:], p.end); err != nil {
		return err
	}
	if _, err := p.index.file.ReadAt(wanted[:], indexHead+p.index.count*(hashSize+8)+p.index.far*8); err != nil {
		return err
	}
	if sum != wanted {
		return fmt.Errorf("%w: its index belongs to another pack", ErrBroken)
	}
	return nil
}

// Find returns the offset of an object, and whether the pack has it.
func (p *Pack) Find(hash plumbing.Hash) (at int64, found bool, err error) { return p.index.find(hash) }

// WithPrefix returns the objects whose names begin with the given hexadecimal digits. There have to be at least two
// digits.
func (p *Pack) WithPrefix(digits string) (hashes []plumbing.Hash, err error) {
	first, err := hex.DecodeString(digits[:2])
	if err != nil {
		return nil, err
	}
	part, err := p.index.part(first[0])
	if err != nil {
		return nil, err
	}
	for i := range part.count() {
		if hash := plumbing.Hash(part.name(i)); strings.HasPrefix(hash.String(), digits) {
			hashes = append(hashes, hash)
		}
	}
	return hashes, nil
}

// Entry is an object in a pack. Its bytes are from Start to before End, and CRC is their checksum.
type Entry struct {
	Hash       plumbing.Hash
	Start, End int64
	CRC        uint32
}

// Entries returns all objects in the order of the pack.
func (p *Pack) Entries() ([]Entry, error) {
	entries := make([]Entry, 0, p.index.count)
	for first := range 256 {
		part, err := p.index.part(byte(first))
		if err != nil {
			return nil, err
		}
		for i := range part.count() {
			at, err := p.index.place(part, i)
			if err != nil {
				return nil, err
			}
			entries = append(entries, Entry{Hash: plumbing.Hash(part.name(i)), Start: at, CRC: binary.BigEndian.Uint32(part.sums[4*i:])})
		}
	}
	slices.SortFunc(entries, func(a, b Entry) int { return cmp.Compare(a.Start, b.Start) })
	for i := range entries {
		end := p.end
		if i+1 < len(entries) {
			end = entries[i+1].Start
		}
		if entries[i].End = end; entries[i].Start < packHead || end <= entries[i].Start {
			return nil, fmt.Errorf("%w: its index has impossible offsets", ErrBroken)
		}
	}
	return entries, nil
}
