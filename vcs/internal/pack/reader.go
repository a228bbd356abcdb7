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
	// maxDelta is the maximum length of a delta, of its base and of its result, in bytes. git makes no deltas of longer
	// files.
	maxDelta = 512 << 20
	// maxChain is the maximum length of a chain of deltas, as in git.
	maxChain = 4095
	// maxDeflated is the maximum number of bytes that one compressed byte can hold.
	maxDeflated = 1032
	// readAhead is the number of bytes that a Reader reads at once.
	readAhead = 4 << 10
)

var (
	// ErrTooLarge means that an object exceeds a limit.
	ErrTooLarge  = errors.New("it is too long")
	errEndless   = fmt.Errorf("%w: it has a chain of more than %d deltas", ErrBroken, maxChain)
	errLongDelta = fmt.Errorf("it is packed as a delta of more than %d bytes: 'git repack -a -d -f' packs long files as a whole", maxDelta)
)

// Reader unpacks objects, one at a time.
type Reader struct {
	cache cache
	// from is the pack that is being read, section is its content, and in is a buffered reader of section.
	in      *bufio.Reader
	section *io.SectionReader
	from    *Pack
	zlib    io.ReadCloser
	chain   []head
	window  window
}

// NewReader returns a Reader that caches up to cached bytes of objects, because other objects may be deltas to them.
func NewReader(cached int) *Reader { return newReader(cached, readAhead) }

func newReader(cached, ahead int) *Reader {
	return &Reader{cache: cache{limit: cached}, in: bufio.NewReaderSize(nil, ahead)}
}

// seek goes to an offset in a pack. It stays within the buffer if possible.
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

// head is the decoded head of an object in a pack.
type head struct {
	at   int64
	kind plumbing.ObjectType
	// size is the unpacked length of the body, which follows the head. start is the offset of the body.
	size, start int64
	// base is the offset of a delta's base.
	base int64
}

// window is a block of a pack in memory. Reads of heads jump back and forth in the pack, often within one block. A
// buffer that only moves forward would be filled again for each of these reads.
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

// head reads the head of an object. It leaves r.in at the beginning of the object.
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

// headOnly is head for a caller that doesn't read the object. It doesn't move r.in.
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

// newHead parses the head of an object. at is its offset in the pack, and text its beginning.
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

// Kind returns the kind of an object. The kind of a delta is the kind of the object at the end of its chain.
func (r *Reader) Kind(p *Pack, at int64) (plumbing.ObjectType, error) {
	for range maxChain + 1 {
		h, err := r.headOnly(p, at)
		if err != nil || !h.kind.IsDelta() {
			return h.kind, err
		}
		at = h.base
	}
	return 0, errEndless
}

// Size returns the length of an object, in bytes.
func (r *Reader) Size(p *Pack, at int64) (int64, error) {
	h, err := r.head(p, at)
	if err != nil || !h.kind.IsDelta() {
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

// Open is Read for objects that may be larger than memory. An object that isn't a delta is unpacked while it is read;
// the text may be shorter than size, or longer by one byte, if the pack is broken. Read the text before the next call
// of a method.
func (r *Reader) Open(p *Pack, at, limit int64) (kind plumbing.ObjectType, size int64, text io.Reader, err error) {
	h, err := r.head(p, at)
	switch {
	case err != nil:
		return 0, 0, nil, err
	case h.kind.IsDelta():
		kind, whole, err := r.Read(p, at, limit)
		return kind, int64(len(whole)), bytes.NewReader(whole), err
	case h.size > limit:
		return 0, 0, nil, ErrTooLarge
	}
	text, err = r.content(p, h)
	return h.kind, h.size, text, err
}

// Read unpacks an object. It returns ErrTooLarge if the object is longer than limit bytes. The content must not be
// changed.
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

// base returns the object at the end of a chain of deltas, or the first object of the chain that is cached. It sets
// r.chain to the deltas between the object at the offset and the returned one. The first delta is the object at the
// offset itself; the returned object isn't in r.chain. The deltas have to be applied in reverse order.
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
		case h.kind.IsDelta() && len(r.chain) == maxChain:
			return content{}, errEndless
		case h.kind.IsDelta():
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

// unpack returns the unpacked body of an object.
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
	return nil, fmt.Errorf("%w: it has an object whose length differs from the length in its head", ErrBroken)
}

// content returns a reader that unpacks the body of an object, at most one byte more than its length.
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

// inflated wraps errors of unpacking with ErrBroken.
type inflated struct{ io.Reader }

func (i inflated) Read(out []byte) (int, error) {
	n, err := i.Reader.Read(out)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("%w: %w", ErrBroken, err)
	}
	return n, err
}
