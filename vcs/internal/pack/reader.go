package pack

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/operkit/operkit/vcs/internal/inflate"
)

const (
	// mostDelta is how long what is made by a difference may be, and what it is made of: git makes none of files that are longer.
	mostDelta = 512 << 20
	// mostChain is how many differences may follow each other, as git has it.
	mostChain = 4095
	// mostWhole is how long an object may be that is unpacked in memory without need, and mostKept how long a buffer that is kept.
	mostWhole = 4 << 20
	mostKept  = 8 << 20
	// mostDeflated is how many bytes deflate makes of one at most.
	mostDeflated = 1032
	// page is how much is read at least.
	page = 4 << 10
)

// ErrTooLarge says that an object is longer than it may be.
var ErrTooLarge = errors.New("it is too long")

// errLongDelta says that an object is a difference, and it or what it is made of is longer than what is unpacked in memory.
var errLongDelta = fmt.Errorf("it is packed as a difference, of which no more than %d bytes are unpacked: 'git repack -a -d -f' packs long files as a whole", mostDelta)

// Reader unpacks objects, one at a time.
type Reader struct {
	inflate inflate.Reader
	cache   cache
	// window is how much is read at least, a power of two.
	window int64
	// read is what was read last, from readAt on, of a pack.
	read   []byte
	readAt place
	// delta is one that is applied, results what comes out: in turn, since one is made of the other.
	delta   []byte
	results [2][]byte
	turn    int
	chain   []head
}

// NewReader keeps some objects, since others may be differences to them: up to that many bytes together.
func NewReader(cached int) *Reader { return &Reader{cache: cache{most: cached}, window: page} }

// head is how an object begins in a pack.
type head struct {
	at   int64
	kind plumbing.ObjectType
	// size is how long what follows is, unpacked, start where it begins.
	size, start int64
	// base is where the object is that a difference is to.
	base int64
}

func (h head) isDelta() bool {
	return h.kind == plumbing.OFSDeltaObject || h.kind == plumbing.REFDeltaObject
}

// head reads the head of an object.
func (r *Reader) head(p *Pack, at int64) (h head, err error) {
	if at < packHead || at >= p.end {
		return h, ErrBroken
	}
	text, err := r.load(p, at, int64(longestHead))
	if err != nil {
		return h, err
	}
	kind, size, length, err := ParseHead(text)
	if err != nil {
		return h, err
	}
	h = head{at: at, kind: kind, size: size, start: at + int64(length)}
	text = text[length:]
	switch kind {
	case plumbing.OFSDeltaObject:
		back, length, err := ParseDistance(text)
		if err != nil || back <= 0 || back > at {
			return h, ErrBroken
		}
		h.base, h.start = at-back, h.start+int64(length)
	case plumbing.REFDeltaObject:
		if int64(len(text)) < hashSize {
			return h, ErrBroken
		}
		base, found, err := p.Find(plumbing.Hash(text[:hashSize]))
		if err != nil {
			return h, err
		}
		if !found {
			return h, fmt.Errorf("%w: it doesn't have the object %s, to which another one is a difference", ErrBroken, plumbing.Hash(text[:hashSize]))
		}
		h.base, h.start = base, h.start+hashSize
	case plumbing.CommitObject, plumbing.TreeObject, plumbing.BlobObject, plumbing.TagObject:
	default:
		return h, fmt.Errorf("%w: it has an object of the kind %d", ErrBroken, kind)
	}
	if left := p.end - h.start; left < 0 || size > left*mostDeflated {
		return h, ErrBroken
	}
	return h, nil
}

// load returns bytes of a pack, until the next call: fewer only at its end.
func (r *Reader) load(p *Pack, at, count int64) ([]byte, error) {
	count = min(count, p.end+hashSize-at)
	if skip := at - r.readAt.at; r.readAt.pack == p && skip >= 0 && skip+count <= int64(len(r.read)) {
		return r.read[skip : skip+count], nil
	}
	from := at &^ (r.window - 1)
	size := min((at+count-from+r.window-1)&^(r.window-1), p.end+hashSize-from)
	r.readAt = place{}
	r.read = buffer(r.read, size, inflate.Slack)
	if _, err := p.file.ReadAt(r.read, from); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBroken, err)
	}
	r.readAt = place{p, from}
	return r.read[at-from:][:count], nil
}

// pieces reads what is between two places, as much at once as is read at least.
func (r *Reader) pieces(p *Pack, start, end int64, read func(at int64, piece []byte) error) error {
	for at := start; at < end; {
		piece, err := r.load(p, at, min(end-at, r.window-at&(r.window-1)))
		if err == nil {
			err = read(at, piece)
		}
		if err != nil {
			return err
		}
		at += int64(len(piece))
	}
	return nil
}

// buffer is one of a size with some more room, the old one if it is large enough and not much too large.
func buffer(old []byte, size int64, more int) []byte {
	if room := int64(cap(old)); room < size+int64(more) || room > mostKept && size < mostKept/2 {
		return make([]byte, size, size+int64(more))
	}
	return old[:size]
}

// Kind is that of an object, differences followed to what they are made of.
func (r *Reader) Kind(p *Pack, at int64) (plumbing.ObjectType, error) {
	for range mostChain + 1 { // what it is made of comes behind all differences
		h, err := r.head(p, at)
		if err != nil || !h.isDelta() {
			return h.kind, err
		}
		at = h.base
	}
	return 0, errEndless
}

var errEndless = fmt.Errorf("%w: there is no end to its differences", ErrBroken)

// Size is how long an object is.
func (r *Reader) Size(p *Pack, at int64) (int64, error) {
	h, err := r.head(p, at)
	if err != nil || !h.isDelta() {
		return h.size, err
	}
	delta, err := r.unpackDelta(p, h)
	if err != nil {
		return 0, err
	}
	_, result, _, err := sizes(delta)
	return result, err
}

// Open is Read for objects that may be larger than memory: what is no difference, and long, is unpacked while it is read. The text is to be read before the
// next call.
func (r *Reader) Open(p *Pack, at, most int64) (kind plumbing.ObjectType, size int64, text io.Reader, err error) {
	h, err := r.head(p, at)
	if err != nil {
		return 0, 0, nil, err
	}
	if !h.isDelta() && h.size > mostWhole {
		if h.size > most {
			return 0, 0, nil, ErrTooLarge
		}
		text, err := stream(p, h)
		return h.kind, h.size, text, err
	}
	kind, whole, err := r.Read(p, at, most)
	return kind, int64(len(whole)), bytes.NewReader(whole), err
}

// stream unpacks an object while it is read, one byte more than it has at most.
func stream(p *Pack, h head) (io.Reader, error) {
	z, err := zlib.NewReader(bufio.NewReaderSize(io.NewSectionReader(p.file, h.start, p.end-h.start), 16*page))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBroken, err)
	}
	return io.LimitReader(streamed{z}, h.size+1), nil
}

// streamed says of content that can't be unpacked that the pack is broken.
type streamed struct{ io.Reader }

func (s streamed) Read(out []byte) (int, error) {
	n, err := s.Reader.Read(out)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("%w: %w", ErrBroken, err)
	}
	return n, err
}
