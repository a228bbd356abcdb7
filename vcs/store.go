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

// store finds the objects of a repository: most of them are in packs. It is safe for concurrent use.
type store struct {
	root *os.Root
	mu   sync.Mutex
	// packs are those that there were when the folder had been changed last at that time.
	packs   []namedPack
	changed time.Time
}

type namedPack struct {
	name string
	*pack.Pack
}

// named says of an error which pack it is about.
func (p namedPack) named(err error) error {
	if err != nil {
		return fmt.Errorf("%s/%s: %w", packFolder, p.name, err)
	}
	return nil
}

const packFolder = "objects/pack"

// close closes the files of packs.
func (s *store) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, one := range s.packs {
		errs = append(errs, one.Close())
	}
	s.packs = nil
	return errors.Join(errs...)
}

// find returns where an object is, a nil pack if in none. Somebody may have packed the repository anew since packs were looked for.
func (s *store) find(hash plumbing.Hash) (in *pack.Pack, at int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range 2 {
		for _, one := range s.packs {
			if at, found, err := one.Find(hash); err != nil || found {
				return one.Pack, at, one.named(err)
			}
		}
		if changed, err := s.open(); err != nil || !changed {
			return nil, 0, err
		}
	}
	return nil, 0, nil
}

// open opens the packs that weren't there before, if there may be some.
func (s *store) open() (changed bool, err error) {
	info, err := s.root.Stat(packFolder)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.ModTime().Equal(s.changed) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	entries, err := fs.ReadDir(s.root.FS(), packFolder)
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		name, isIndex := strings.CutSuffix(e.Name(), ".idx")
		if !isIndex || slices.ContainsFunc(s.packs, func(p namedPack) bool { return p.name == name }) {
			continue
		}
		one := namedPack{name: name}
		one.Pack, err = openPack(s.root, packFolder+"/"+name)
		if errors.Is(err, fs.ErrNotExist) { // somebody removes it, or hasn't written all of it
			continue
		}
		if err != nil {
			return false, one.named(err)
		}
		s.packs = append(s.packs, one)
	}
	s.changed = info.ModTime()
	return true, nil
}

func openPack(root *os.Root, path string) (*pack.Pack, error) {
	index, err := openFile(root, path+".idx")
	if err != nil {
		return nil, err
	}
	file, err := openFile(root, path+".pack")
	if err != nil {
		return nil, errors.Join(err, index.Close())
	}
	return pack.Open(file, index)
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

// all are the packs that there are now.
func (s *store) all() ([]namedPack, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.open()
	return slices.Clone(s.packs), err
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
	for _, one := range packs {
		found, err := one.WithPrefix(digits)
		if err != nil {
			return nil, one.named(err)
		}
		hashes = append(hashes, found...)
	}
	return hashes, nil
}
