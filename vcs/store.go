package vcs

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// store finds the objects of a repository: most of them are in packs. It is safe for concurrent use.
type store struct {
	root *os.Root
	mu   sync.Mutex
	// packs are those that there were when the folder had been changed last at that time.
	packs   []namedPack
	changed time.Time
	// gone are packs whose files somebody has removed. They are closed when nobody is reading any more: reading are how many are.
	gone    []namedPack
	reading int
}

// close closes the files of packs.
func (s *store) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, one := range slices.Concat(s.packs, s.gone) {
		errs = append(errs, one.Close())
	}
	s.packs, s.gone = nil, nil
	return errors.Join(errs...)
}

// place is where an object is: in a pack, or in a file of its own. It has to be closed.
type place struct {
	store *store
	pack  namedPack
	at    int64
	loose *loose
}

// close adds what fails to an error.
func (p place) close(err *error) {
	if p.loose != nil {
		*err = errors.Join(*err, p.loose.file.Close())
		return
	}
	p.store.done()
}

// find returns where an object is, plumbing.ErrObjectNotFound if nowhere. Somebody may be packing the repository anew: an object is in a new pack before its
// own file is removed, so that packs are looked at once more.
func (s *store) find(hash plumbing.Hash) (place, error) {
	for range 2 {
		if found, err := s.packed(hash); err != nil || found.store != nil {
			return found, err
		}
		file, err := s.openLoose(hash)
		if !errors.Is(err, plumbing.ErrObjectNotFound) {
			return place{loose: file}, err
		}
	}
	return place{}, plumbing.ErrObjectNotFound
}

// packed returns where an object is in a pack, nothing if in none.
func (s *store) packed(hash plumbing.Hash) (place, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		for _, one := range s.packs {
			at, found, err := one.Find(hash)
			if err != nil {
				return place{}, one.named(err)
			}
			if found {
				s.reading++
				return place{store: s, pack: one, at: at}, nil
			}
		}
		if more, err := s.open(); err != nil || !more {
			return place{}, err
		}
	}
}

// done tells that somebody isn't reading any more.
func (s *store) done() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reading--
	s.closeGone()
}

func (s *store) closeGone() {
	if s.reading > 0 {
		return
	}
	for _, one := range s.gone {
		_ = one.Close() // it was only read
	}
	s.gone = nil
}

// openFile opens a file to be read.
func openFile(root *os.Root, path string) (*os.File, error) {
	file, err := root.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	return onlyFile(file)
}

// onlyFile refuses what isn't a file, such as a pipe, which would have everybody wait who reads it, or a device without an end. It was opened without waiting.
func onlyFile(file *os.File) (*os.File, error) {
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "read", Path: file.Name(), Err: errors.New("it is no file")}
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// all are the packs that there are now, until done is called.
func (s *store) all() ([]namedPack, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.open(); err != nil {
		return nil, err
	}
	s.reading++
	return slices.Clone(s.packs), nil
}

// withPrefix are the objects whose names begin with some digits, four at least.
func (s *store) withPrefix(digits string) ([]plumbing.Hash, error) {
	hashes, err := s.looseWithPrefix(digits)
	if err != nil {
		return nil, err
	}
	packs, err := s.all()
	if err != nil {
		return nil, err
	}
	defer s.done()
	for _, one := range packs {
		found, err := one.WithPrefix(digits)
		if err != nil {
			return nil, one.named(err)
		}
		hashes = append(hashes, found...)
	}
	return hashes, nil
}
