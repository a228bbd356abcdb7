package pack

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

const (
	// maxDelta is how long a delta, its base and its result may be: git makes no deltas of longer files.
	maxDelta = 512 << 20
	// maxChain is how many deltas may follow each other, as in git.
	maxChain = 4095
	// maxDeflated is how many bytes deflate makes of one at most.
	maxDeflated = 1032
	// readAhead is how much a Reader reads at once.
	readAhead = 4 << 10
)

var (
	// ErrTooLarge reports that an object is longer than it may be.
	ErrTooLarge  = errors.New("it is too long")
	errEndless   = fmt.Errorf("%w: there is no end to its deltas", ErrBroken)
	errLongDelta = fmt.Errorf("it is packed as a delta of more than %d bytes: 'git repack -a -d -f' packs long files as a whole", maxDelta)
)

// Reader unpacks objects, one at a time.
type Reader struct {
	cache cache
	// in buffers section, which is all of the pack from.
	in      *bufio.Reader
	section *io.SectionReader
	from    *Pack
	zlib    io.ReadCloser
	chain   []head
	window  window
}

// NewReader returns a Reader that keeps some objects, since others may be deltas to them: up to that many bytes
// together.
func NewReader(cached int) *Reader { return newReader(cached, readAhead) }

func newReader(cached, ahead int) *Reader {
	return &Reader{cache: cache{limit: cached}, in: bufio.NewReaderSize(nil, ahead)}
}

// seek goes to a place of a pack, within what is buffered if it can.
func (r *Reader) seek(p *Pack, at int64) error {
	if r.from == p {
		read, err := r.section.Seek(0, io.SeekCurrent)
		if skip := at - read + int64(r.in.Buffered()); err == nil && skip >= 0 && skip <= int64(r.in.Buffered()) {
			_, err = r.in.Discard(int(skip))
			return err
		}
	} else {
		r.from, r.section = p, io.NewSectionReader(p.file, 0, p.end)
	}
	_, err := r.section.Seek(at, io.SeekStart)
	r.in.Reset(r.section)
	return err
}

// head is how an object begins in a pack.
type head struct {
	at   int64
	kind plumbing.ObjectType
	// size is how long what follows is, unpacked, start where it begins.
	size, start int64
	// base is where the base of a delta begins.
	base int64
}

func (h head) isDelta() bool {
	return h.kind == plumbing.OFSDeltaObject || h.kind == plumbing.REFDeltaObject
}

// window is a block of a pack. Reads of heads alone jump back and forth in the pack, often within one block, where a
// buffer that only goes forward would be filled again for each.
type window struct {
	pack *Pack
	at   int64
	text []byte
}

// peek returns the first bytes of an object.
func (w *window) peek(p *Pack, at int64) ([]byte, error) {
	length := min(maxHead, p.end-at)
	if skip := at - w.at; w.pack != p || skip < 0 || skip+length > int64(len(w.text)) {
		from := at &^ (readAhead - 1)
		text := append(w.text[:0], make([]byte, min(readAhead+maxHead, p.end-from))...)
		*w = window{nil, from, text}
		if _, err := p.file.ReadAt(text, from); err != nil {
			return nil, err
		}
		w.pack = p
	}
	return w.text[at-w.at:][:length], nil
}

// head reads the head of an object. The reader is left where the object begins.
func (r *Reader) head(p *Pack, at int64) (h head, err error) {
	if at < packHead || at >= p.end {
		return h, ErrBroken
	}
	if err := r.seek(p, at); err != nil {
		return h, err
	}
	text, err := r.in.Peek(int(maxHead))
	if err != nil && !errors.Is(err, io.EOF) {
		return h, fmt.Errorf("%w: %w", ErrBroken, err)
	}
	return newHead(p, at, text)
}

// headOnly is head for a caller that doesn't read the object. The reader is left where it was.
func (r *Reader) headOnly(p *Pack, at int64) (h head, err error) {
	if at < packHead || at >= p.end {
		return h, ErrBroken
	}
	text, err := r.window.peek(p, at)
	if err != nil {
		return h, fmt.Errorf("%w: %w", ErrBroken, err)
	}
	return newHead(p, at, text)
}

// newHead returns the head that the text at a place of a pack begins with.
func newHead(p *Pack, at int64, text []byte) (h head, err error) {
	kind, size, length, err := parseHead(text)
	if err != nil {
		return h, err
	}
	h = head{at: at, kind: kind, size: size, start: at + int64(length)}
	text = text[length:]
	switch kind {
	case plumbing.OFSDeltaObject:
		back, length, err := parseDistance(text)
		if err != nil || back <= 0 || back > at {
			return h, ErrBroken
		}
		h.base, h.start = at-back, h.start+int64(length)
	case plumbing.REFDeltaObject:
		if int64(len(text)) < hashSize {
			return h, ErrBroken
		}
		name := plumbing.Hash(text[:hashSize])
		base, found, err := p.Find(name)
		if err != nil {
			return h, err
		}
		if !found {
			return h, fmt.Errorf("%w: the base %s of one of its deltas is missing", ErrBroken, name)
		}
		h.base, h.start = base, h.start+hashSize
	case plumbing.CommitObject, plumbing.TreeObject, plumbing.BlobObject, plumbing.TagObject:
	default:
		return h, fmt.Errorf("%w: it has an object of the unknown kind %d", ErrBroken, kind)
	}
	if left := p.end - h.start; left < 0 || size > left*maxDeflated {
		return h, ErrBroken
	}
	return h, nil
}

// Kind returns the kind of an object: for a delta the one of the object at the end of its chain.
func (r *Reader) Kind(p *Pack, at int64) (plumbing.ObjectType, error) {
	for range maxChain + 1 {
		h, err := r.headOnly(p, at)
		if err != nil || !h.isDelta() {
			return h.kind, err
		}
		at = h.base
	}
	return 0, errEndless
}

// Size returns how long an object is.
func (r *Reader) Size(p *Pack, at int64) (int64, error) {
	h, err := r.head(p, at)
	if err != nil || !h.isDelta() {
		return h.size, err
	}
	content, err := r.content(p, h)
	if err != nil {
		return 0, err
	}
	sizes, err := io.ReadAll(io.LimitReader(content, 2*binary.MaxVarintLen64))
	if err != nil {
		return 0, err
	}
	return resultSize(sizes)
}

// Open is Read for objects that may be larger than memory: what is no delta is unpacked while it is read, and may turn
// out to be shorter or longer than size. The text has to be read before the next call.
func (r *Reader) Open(p *Pack, at, limit int64) (kind plumbing.ObjectType, size int64, text io.Reader, err error) {
	h, err := r.head(p, at)
	switch {
	case err != nil:
		return 0, 0, nil, err
	case h.isDelta():
		kind, whole, err := r.Read(p, at, limit)
		return kind, int64(len(whole)), bytes.NewReader(whole), err
	case h.size > limit:
		return 0, 0, nil, ErrTooLarge
	}
	text, err = r.content(p, h)
	return h.kind, h.size, text, err
}

// Read unpacks an object that isn't longer than limit; a longer one is ErrTooLarge. The content must not be changed.
func (r *Reader) Read(p *Pack, at, limit int64) (plumbing.ObjectType, []byte, error) {
	base, err := r.base(p, at, limit)
	if err != nil {
		return 0, nil, err
	}
	for i := len(r.chain) - 1; i >= 0; i-- {
		most := int64(math.MaxInt64)
		if i == 0 {
			most = limit
		}
		if base.text, err = r.apply(p, r.chain[i], base.text, most); err != nil {
			return 0, nil, err
		}
		r.cache.put(place{p, r.chain[i].at}, base)
	}
	if int64(len(base.text)) > limit {
		return 0, nil, ErrTooLarge
	}
	return base.kind, base.text, nil
}

// base returns the object at the end of a chain of deltas, or the first one on the way that is cached. chain has the
// deltas to apply to it, the last one first.
func (r *Reader) base(p *Pack, at, limit int64) (content, error) {
	r.chain = r.chain[:0]
	for {
		if found, is := r.cache.get(place{p, at}); is {
			return found, nil
		}
		h, err := r.head(p, at)
		switch {
		case err != nil:
			return content{}, err
		case h.isDelta() && len(r.chain) == maxChain:
			return content{}, errEndless
		case h.isDelta():
			r.chain, at = append(r.chain, h), h.base
			continue
		case len(r.chain) > 0 && h.size > maxDelta:
			return content{}, errLongDelta
		case len(r.chain) == 0 && h.size > limit:
			return content{}, ErrTooLarge
		}
		text, err := r.unpack(p, h)
		base := content{h.kind, text}
		if err == nil {
			r.cache.put(place{p, at}, base)
		}
		return base, err
	}
}

// apply applies a delta to its base.
func (r *Reader) apply(p *Pack, h head, base []byte, limit int64) ([]byte, error) {
	if h.size > maxDelta {
		return nil, errLongDelta
	}
	delta, err := r.unpack(p, h)
	if err != nil {
		return nil, err
	}
	size, err := resultSize(delta)
	switch {
	case err != nil:
		return nil, err
	case size > limit:
		return nil, ErrTooLarge
	case size > maxDelta:
		return nil, errLongDelta
	}
	result, err := packfile.PatchDelta(base, delta)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBroken, err)
	}
	return result, nil
}

// unpack returns what follows a head.
func (r *Reader) unpack(p *Pack, h head) ([]byte, error) {
	content, err := r.content(p, h)
	if err != nil {
		return nil, err
	}
	text := make([]byte, h.size)
	if _, err = io.ReadFull(content, text); err == nil {
		if _, err = io.ReadFull(content, make([]byte, 1)); errors.Is(err, io.EOF) {
			return text, nil
		}
	}
	if errors.Is(err, ErrBroken) {
		return nil, err
	}
	return nil, fmt.Errorf("%w: it has an object that isn't as long as it says", ErrBroken)
}

// content unpacks what follows a head while it is read, one byte more than its length at most.
func (r *Reader) content(p *Pack, h head) (io.Reader, error) {
	err := r.seek(p, h.start)
	if resetter, is := r.zlib.(zlib.Resetter); err == nil && is {
		err = resetter.Reset(r.in, nil)
	} else if err == nil {
		r.zlib, err = zlib.NewReader(r.in)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBroken, err)
	}
	return io.LimitReader(inflated{r.zlib}, h.size+1), nil
}

// inflated turns errors of content that can't be unpacked into ErrBroken.
type inflated struct{ io.Reader }

func (i inflated) Read(out []byte) (int, error) {
	n, err := i.Reader.Read(out)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("%w: %w", ErrBroken, err)
	}
	return n, err
}
