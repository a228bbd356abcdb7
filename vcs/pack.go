package vcs

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
)

// packer writes a pack.
type packer struct {
	out      *bufio.Writer
	sum      hash.Hash
	position int64
	// places are where objects are in the pack.
	places map[plumbing.Hash]int64
	index  *idxfile.Writer
}

func newPacker(out io.Writer, count int) (*packer, error) {
	p := &packer{sum: sha1.New(), places: make(map[plumbing.Hash]int64, count), index: &idxfile.Writer{}}
	p.out = bufio.NewWriterSize(io.MultiWriter(out, p.sum), 1<<20)
	if err := p.index.OnHeader(uint32(count)); err != nil {
		return nil, err
	}
	head := append([]byte("PACK\x00\x00\x00\x02"), binary.BigEndian.AppendUint32(nil, uint32(count))...)
	_, err := p.out.Write(head)
	p.position = int64(len(head))
	return p, err
}

// put writes an object as it stands in a pack: its head and what follows.
func (p *packer) put(hash plumbing.Hash, parts ...[]byte) error {
	sum := crc32.NewIEEE()
	at := p.position
	for _, part := range parts {
		_, _ = sum.Write(part) // it never fails
		n, err := p.out.Write(part)
		p.position += int64(n)
		if err != nil {
			return err
		}
	}
	p.places[hash] = at
	p.index.Add(hash, uint64(at), sum.Sum32())
	return nil
}

// putWhole writes an object that is no delta.
func (p *packer) putWhole(kind plumbing.ObjectType, hash plumbing.Hash, content []byte) error {
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	_, err := w.Write(content)
	if err = errors.Join(err, w.Close()); err != nil {
		return err
	}
	return p.put(hash, packHead(kind, int64(len(content))), packed.Bytes())
}

// finish writes the end of the pack, and returns its name and its index.
func (p *packer) finish() (name plumbing.Hash, index *idxfile.MemoryIndex, err error) {
	if err := p.out.Flush(); err != nil {
		return plumbing.ZeroHash, nil, err
	}
	copy(name[:], p.sum.Sum(nil))
	if _, err := p.out.Write(name[:]); err != nil {
		return name, nil, err
	}
	if err := errors.Join(p.out.Flush(), p.index.OnFooter(name)); err != nil {
		return name, nil, err
	}
	index, err = p.index.Index()
	return name, index, err
}

// packHead is the kind of an object and its length.
func packHead(kind plumbing.ObjectType, size int64) (head []byte) {
	c := byte(kind)<<4 | byte(size&0x0f)
	for size >>= 4; size > 0; size >>= 7 {
		head = append(head, c|0x80)
		c = byte(size & 0x7f)
	}
	return append(head, c)
}

// distance is how far before a delta its base is.
func distance(n int64) []byte {
	bytes := []byte{byte(n & 0x7f)}
	for n >>= 7; n > 0; n >>= 7 {
		n--
		bytes = append(bytes, byte(n&0x7f)|0x80)
	}
	slices.Reverse(bytes)
	return bytes
}

// readDistance is the inverse of distance.
func readDistance(text []byte) (n int64, length int, err error) {
	for i, c := range text {
		if i > 0 {
			n++
		}
		n = n<<7 | int64(c&0x7f)
		if c&0x80 == 0 {
			return n, i + 1, nil
		}
		if i > 8 {
			break
		}
	}
	return 0, 0, errors.New("a distance is broken")
}

// readHead is the inverse of packHead.
func readHead(text []byte) (kind plumbing.ObjectType, size int64, length int, err error) {
	shift := 4
	for i, c := range text {
		if i == 0 {
			kind, size = plumbing.ObjectType(c>>4&7), int64(c&0x0f)
		} else {
			size |= int64(c&0x7f) << shift
			shift += 7
		}
		if c&0x80 == 0 {
			return kind, size, i + 1, nil
		}
		if i > 9 {
			break
		}
	}
	return 0, 0, 0, errors.New("the head of an object is broken")
}

// writePack writes all objects into one pack in a folder. What the source has as a delta stays one, if its base is needed too: neither is
// unpacked.
func (b *builder) writePack(ctx context.Context, folder string) (err error) {
	file, err := os.CreateTemp(folder, "tmp_pack_")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	p, err := newPacker(file, b.report.Objects)
	if err != nil {
		return err
	}
	for _, one := range b.made {
		if err := p.putWhole(one.kind, one.hash, one.content); err != nil {
			return err
		}
	}
	if err := b.copyPacks(ctx, p); err != nil {
		return err
	}
	if err := b.copyOthers(ctx, p); err != nil {
		return err
	}
	name, index, err := p.finish()
	if err != nil {
		return err
	}
	b.report.Bytes = p.position + int64(len(name))
	if err := errors.Join(file.Sync(), file.Chmod(0o444)); err != nil {
		return err
	}
	path := filepath.Join(folder, "pack-"+name.String())
	if err := os.Rename(file.Name(), path+".pack"); err != nil {
		return err
	}
	return writeIndexOf(path+".idx", index)
}

func writeIndexOf(path string, index *idxfile.MemoryIndex) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(file)
	_, err = idxfile.NewEncoder(out).Encode(index)
	return errors.Join(err, out.Flush(), file.Sync(), file.Close())
}

// copyOthers writes what no pack of the source has.
func (b *builder) copyOthers(ctx context.Context, p *packer) error {
	for hash := range b.needed {
		if _, written := p.places[hash]; written {
			continue
		}
		if err := b.copyWhole(ctx, p, hash); err != nil {
			return err
		}
	}
	return nil
}

// copyWhole unpacks an object and packs it anew.
func (b *builder) copyWhole(ctx context.Context, p *packer, hash plumbing.Hash) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	obj, err := b.source.object(plumbing.AnyObject, hash)
	if err != nil {
		return fmt.Errorf("object %s: %w", hash, err)
	}
	var content bytes.Buffer
	if err := b.source.read(&content, obj); err != nil {
		return fmt.Errorf("object %s: %w", hash, err)
	}
	if plumbing.ComputeHash(obj.Type(), content.Bytes()) != hash {
		return fmt.Errorf("object %s: its content isn't what its name says: the source is broken", hash)
	}
	return p.putWhole(obj.Type(), hash, content.Bytes())
}
