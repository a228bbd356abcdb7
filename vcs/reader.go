package vcs

import (
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// reader reads the objects and references of a repository, one at a time.
type reader struct {
	mu      sync.Mutex
	storage *filesystem.Storage
}

// newReader keeps the files of packs open until it is closed.
func newReader(files billy.Filesystem) *reader {
	storage := filesystem.NewStorageWithOptions(files, cache.NewObjectLRU(cache.DefaultMaxSize), filesystem.Options{KeepDescriptors: true})
	return &reader{storage: storage}
}

func (r *reader) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.storage.Close()
}

// object is one of a kind. Its content is read by whoever asks for it, with the reader's lock held: see copyTo.
func (r *reader) object(kind plumbing.ObjectType, hash plumbing.Hash) (plumbing.EncodedObject, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.storage.EncodedObject(kind, hash)
}

// copyTo writes the content of a file, and fails in the end if that isn't what the name of the object says.
func (r *reader) copyTo(out io.Writer, hash plumbing.Hash, buffer []byte) (written int64, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	obj, err := r.storage.EncodedObject(plumbing.BlobObject, hash)
	if err != nil {
		return 0, err
	}
	content, err := obj.Reader()
	if err != nil {
		return 0, err
	}
	defer func() {
		if closing := content.Close(); err == nil {
			err = closing
		}
	}()
	sum := sha1.New()
	fmt.Fprintf(sum, "blob %d\x00", obj.Size())
	if written, err = io.CopyBuffer(io.MultiWriter(out, sum), content, buffer); err != nil {
		return written, err
	}
	if plumbing.Hash(sum.Sum(nil)) != hash {
		return written, fmt.Errorf("object %s: its content isn't what its name says: the repository is broken", hash)
	}
	return written, nil
}

// read writes the content of an object that is held.
func (r *reader) read(out io.Writer, obj plumbing.EncodedObject) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	content, err := obj.Reader()
	if err != nil {
		return err
	}
	_, err = io.Copy(out, content)
	return errors.Join(err, content.Close())
}
