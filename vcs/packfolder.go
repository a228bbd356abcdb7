package vcs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/operkit/operkit/vcs/internal/pack"
)

const (
	packFolder = "objects/pack"
	// settled is how long ago a folder has to have been changed for its time to show whether it is changed again: not every file system has finer times.
	settled = 2 * time.Second
)

// namedPack is a pack of a repository.
type namedPack struct {
	name string
	*pack.Pack
}

// named says of an error about what is broken which pack that is.
func (p namedPack) named(err error) error {
	if errors.Is(err, pack.ErrBroken) {
		return fmt.Errorf("%s/%s: %w", packFolder, p.name, err)
	}
	return err
}

// open opens the packs that weren't there before, if there may be some, and lets go of those that aren't there any more. The lock is held.
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
		one.Pack, err = openPack(s.root, packFolder+"/"+name)
		if errors.Is(err, fs.ErrNotExist) { // somebody removes it, or hasn't written all of it
			continue
		}
		if err != nil {
			return false, one.named(err)
		}
		s.packs, more = append(s.packs, one), true
	}
	s.letGo(names)
	if s.changed = (time.Time{}); time.Since(info.ModTime()) > settled {
		s.changed = info.ModTime()
	}
	return more, nil
}

// letGo forgets the packs that aren't among those whose names are given in order.
func (s *store) letGo(there []string) {
	s.packs = slices.DeleteFunc(s.packs, func(one namedPack) bool {
		_, is := slices.BinarySearch(there, one.name)
		if !is {
			s.gone = append(s.gone, one)
		}
		return !is
	})
	s.closeGone()
}

// packNames are those of the packs that have an index, in order.
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

func openPack(root *os.Root, path string) (*pack.Pack, error) {
	file, index, err := openPackFiles(root, path)
	if err != nil {
		return nil, err
	}
	return pack.Open(file, index)
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
