package vcs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/operkit/operkit/vcs/internal/pack"
)

// store finds the objects of a repository, most of which are in packs. It is safe for concurrent use.
type store struct {
	root *os.Root
	mu   sync.Mutex
	// packs are the open packs. They are up to date if changed equals the modification time of their folder.
	packs   []namedPack
	changed time.Time
	// gone are packs whose files were removed. They are closed when no pack is being read. reading counts the running
	// reads.
	gone    []namedPack
	reading int
}

// close closes all packs.
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

// place is the location of an object: in a pack, or in a loose file. The caller has to close it.
type place struct {
	store *store
	pack  namedPack
	at    int64
	loose *loose
}

// close adds its error to err.
func (p place) close(err *error) {
	if p.loose != nil {
		*err = errors.Join(*err, p.loose.file.Close())
		return
	}
	p.store.done()
}

// find returns the place of an object, or plumbing.ErrObjectNotFound. It searches twice, because git may be packing the
// repository at the same time: git writes a pack before it removes the loose files.
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

// packed returns the place of an object in a pack, the zero place if no pack has it.
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

// done ends a read of packs that packed or all has begun.
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
		_ = one.Close() // the file was only read, so errors don't matter
	}
	s.gone = nil
}

// openFile opens a file for reading.
func openFile(root *os.Root, path string) (*os.File, error) {
	file, err := root.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	return onlyFile(file)
}

// onlyFile returns an error, and closes the file, if it isn't a regular file: a pipe might block, and a device might be
// endless.
func onlyFile(file *os.File) (*os.File, error) {
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "read", Path: file.Name(), Err: errors.New("it isn't a file")}
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// all returns the packs that exist now. They stay open until done is called.
func (s *store) all() ([]namedPack, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.open(); err != nil {
		return nil, err
	}
	s.reading++
	return slices.Clone(s.packs), nil
}

// withPrefix returns the objects whose names begin with the given digits. There have to be at least four digits.
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

const (
	packFolder = "objects/pack"
	// timeStep is the coarsest resolution of modification times. A folder that was changed within this time may change
	// again and keep its modification time.
	timeStep = 2 * time.Second
)

// namedPack is a pack of a repository.
type namedPack struct {
	name string
	*pack.Pack
}

// named adds the name of the pack to an error that wraps pack.ErrBroken.
func (p namedPack) named(err error) error {
	if errors.Is(err, pack.ErrBroken) {
		return fmt.Errorf("%s/%s: %w", packFolder, p.name, err)
	}
	return err
}

// open opens new packs and drops removed ones. more reports whether there are new packs. The caller holds mu.
func (s *store) open() (more bool, err error) {
	info, err := s.root.Stat(packFolder)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.ModTime().Equal(s.changed) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	names, err := packNames(s.root)
	if err != nil {
		return false, err
	}
	for _, name := range names {
		if slices.ContainsFunc(s.packs, func(p namedPack) bool { return p.name == name }) {
			continue
		}
		one := namedPack{name: name}
		file, index, err := openPackFiles(s.root, packFolder+"/"+name)
		if err == nil {
			one.Pack, err = pack.Open(file, index)
		}
		if errors.Is(err, fs.ErrNotExist) { // it is being removed, or isn't complete yet
			continue
		}
		if err != nil {
			return false, one.named(err)
		}
		s.packs, more = append(s.packs, one), true
	}
	s.drop(names)
	if s.changed = (time.Time{}); time.Since(info.ModTime()) > timeStep {
		s.changed = info.ModTime()
	}
	return more, nil
}

// drop drops the packs whose names aren't among the given ones, which are sorted.
func (s *store) drop(names []string) {
	s.packs = slices.DeleteFunc(s.packs, func(one namedPack) bool {
		_, is := slices.BinarySearch(names, one.name)
		if !is {
			s.gone = append(s.gone, one)
		}
		return !is
	})
	s.closeGone()
}

// packNames returns the sorted names of the packs that have an index.
func packNames(root *os.Root) (names []string, err error) {
	entries, err := fs.ReadDir(root.FS(), packFolder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if name, isIndex := strings.CutSuffix(e.Name(), ".idx"); isIndex {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// openPackFiles opens a pack and its index.
func openPackFiles(root *os.Root, path string) (file, index *os.File, err error) {
	if index, err = openFile(root, path+".idx"); err != nil {
		return nil, nil, err
	}
	if file, err = openFile(root, path+".pack"); err != nil {
		return nil, nil, errors.Join(err, index.Close())
	}
	return file, index, nil
}
