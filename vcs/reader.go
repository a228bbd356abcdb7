package vcs

import (
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

// maxCached limits the bytes of cached objects. Trees in packs are deltas of each other, so the same object is needed
// again and again.
const maxCached = 16 << 20

// reader reads the objects of a repository, one at a time, and checks that the content of each matches its name.
type reader struct {
	mu    sync.Mutex
	store *store
	packs *pack.Reader
	sum   hash.Hash
	// limit is the maximum length of a file, in bytes.
	limit int64
}

// newReader returns a reader that caches up to cached bytes, and refuses files that are longer than limit.
func newReader(s *store, cached int, limit int64) *reader {
	return &reader{store: s, packs: pack.NewReader(cached), sum: sha1.New(), limit: limit}
}

// object is a commit, a tag, a tree or a small file.
type object struct {
	hash plumbing.Hash
	kind plumbing.ObjectType
	text []byte
}

// object reads an object that isn't longer than maxMetadata.
func (r *reader) object(hash plumbing.Hash) (object, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	kind, text, err := r.small(hash)
	return object{hash, kind, text}, err
}

// small reads an object that isn't longer than maxMetadata. The content must not be changed. The caller holds mu.
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
		kind, text, err = r.packs.Read(found.pack.Pack, found.at, maxMetadata)
	}
	if err != nil {
		return 0, nil, found.pack.named(err)
	}
	begin(r.sum, kind, int64(len(text)))
	_, _ = r.sum.Write(text) // it never fails
	return kind, text, r.check(hash)
}

// begin resets sum and writes the head of an object to it. When the content is written, too, the sum is the object's
// name.
func begin(sum hash.Hash, kind plumbing.ObjectType, size int64) {
	var head [maxLooseHead]byte
	sum.Reset()
	_, _ = sum.Write(append(strconv.AppendInt(append(append(head[:0], kind.String()...), ' '), size, 10), 0))
}

// check compares the hash of an object with its name.
func (r *reader) check(name plumbing.Hash) error {
	var sum plumbing.Hash
	if r.sum.Sum(sum[:0]); sum != name {
		return errors.New("its content doesn't match its name: the repository is broken")
	}
	return nil
}

// kind returns the kind of an object.
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

// length returns the length of an object, in bytes.
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

// copyTo writes the content of an object, which may be larger than memory. It returns an error if the object isn't of
// the wanted kind. If the content doesn't match its name, copyTo writes the content and returns an error.
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
	kind, size, content, err := r.packs.Open(found.pack.Pack, found.at, r.limit)
	if err == nil {
		written, err = r.copyOf(out, hash, wanted, kind, size, content, buffer)
	}
	return written, found.pack.named(err)
}

func (r *reader) copyOf(out io.Writer, name plumbing.Hash, wanted, kind plumbing.ObjectType, size int64, content io.Reader, buffer []byte) (int64, error) {
	if kind != wanted {
		return 0, fmt.Errorf("it is a %s where a %s should be", kind, wanted)
	}
	begin(r.sum, kind, size)
	written, err := io.CopyBuffer(io.MultiWriter(out, r.sum), content, buffer)
	if err != nil {
		return written, err
	}
	return written, r.check(name)
}
