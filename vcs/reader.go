package vcs

import (
	"bytes"
	"crypto/sha1"
	"errors"
	"fmt"
	"hash"
	"io"
	"strconv"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/operkit/operkit/vcs/internal/pack"
)

// mostCached is how many bytes of trees are kept: in packs they are differences to each other.
const mostCached = 16 << 20

// reader reads the objects of a repository, one at a time. What it reads is what the name of the object says: it is compared.
type reader struct {
	mu    sync.Mutex
	store *store
	packs *pack.Reader
	sum   hash.Hash
	// most is how long a file may be.
	most int64
}

// newReader keeps some of what it reads, up to that many bytes, and reads no file that is longer than most.
func newReader(s *store, cached int, most int64) *reader {
	return &reader{store: s, packs: pack.NewReader(cached), sum: sha1.New(), most: most}
}

// object is one that isn't a file.
type object struct {
	hash plumbing.Hash
	kind plumbing.ObjectType
	text []byte
}

// object reads one that isn't a large file.
func (r *reader) object(hash plumbing.Hash) (object, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	kind, text, err := r.small(hash)
	return object{hash, kind, bytes.Clone(text)}, err
}

// small reads an object that isn't a large file. The content is good until something else is read. The lock is held.
func (r *reader) small(hash plumbing.Hash) (kind plumbing.ObjectType, text []byte, err error) {
	found, err := r.store.find(hash)
	if err != nil {
		return 0, nil, err
	}
	defer found.close(&err)
	if found.loose != nil {
		kind = found.loose.kind
		text, err = found.loose.small()
	} else {
		kind, text, err = r.packs.Read(found.pack.Pack, found.at, mostMetadata)
	}
	if err != nil {
		return 0, nil, found.pack.named(err)
	}
	r.begin(kind, int64(len(text)))
	_, _ = r.sum.Write(text) // it never fails
	return kind, text, r.check(hash)
}

// begin begins the sum of an object, check compares it with its name.
func (r *reader) begin(kind plumbing.ObjectType, size int64) {
	var head [longestLoose]byte
	r.sum.Reset()
	_, _ = r.sum.Write(append(strconv.AppendInt(append(append(head[:0], kind.String()...), ' '), size, 10), 0))
}

func (r *reader) check(name plumbing.Hash) error {
	var sum plumbing.Hash
	if r.sum.Sum(sum[:0]); sum != name {
		return errors.New("its content isn't what its name says: the repository is broken")
	}
	return nil
}

// kind is that of an object.
func (r *reader) kind(hash plumbing.Hash) (kind plumbing.ObjectType, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	found, err := r.store.find(hash)
	if err != nil {
		return 0, err
	}
	defer found.close(&err)
	if found.loose != nil {
		return found.loose.kind, nil
	}
	kind, err = r.packs.Kind(found.pack.Pack, found.at)
	return kind, found.pack.named(err)
}

// length is how long an object is.
func (r *reader) length(hash plumbing.Hash) (size int64, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	found, err := r.store.find(hash)
	if err != nil {
		return 0, err
	}
	defer found.close(&err)
	if found.loose != nil {
		return found.loose.size, nil
	}
	size, err = r.packs.Size(found.pack.Pack, found.at)
	return size, found.pack.named(err)
}

// copyTo writes the content of an object of a kind, which may be larger than memory, and fails in the end if that isn't what the name of the object says.
func (r *reader) copyTo(out io.Writer, hash plumbing.Hash, wanted plumbing.ObjectType, buffer []byte) (written int64, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	found, err := r.store.find(hash)
	if err != nil {
		return 0, err
	}
	defer found.close(&err)
	if found.loose != nil {
		return r.copyOf(out, hash, wanted, found.loose.kind, found.loose.size, found.loose.content, buffer)
	}
	kind, size, content, err := r.packs.Open(found.pack.Pack, found.at, r.most)
	if err == nil {
		written, err = r.copyOf(out, hash, wanted, kind, size, content, buffer)
	}
	return written, found.pack.named(err)
}

func (r *reader) copyOf(out io.Writer, name plumbing.Hash, wanted, kind plumbing.ObjectType, size int64, content io.Reader, buffer []byte) (int64, error) {
	if kind != wanted {
		return 0, fmt.Errorf("it is a %s where a %s should be", kind, wanted)
	}
	r.begin(kind, size)
	written, err := io.CopyBuffer(io.MultiWriter(out, r.sum), content, buffer)
	if err != nil {
		return written, err
	}
	return written, r.check(name)
}
