package vcs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// checkPlaces refuses places that would harm somebody, before anything is touched (spec: vcs 23, W16).
func checkPlaces(options SetupOptions) (destination string, err error) {
	destination, err = filepath.Abs(options.Destination)
	if err != nil {
		return "", err
	}
	info, err := os.Lstat(destination)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return "", err
	case info.Mode()&fs.ModeSymlink != 0:
		return "", errors.New("it is a symbolic link: name what it leads to")
	case !info.IsDir():
		return "", errors.New("it is a file")
	case isMount(destination, info):
		return "", errMount
	}
	if err := checkApart(destination, options.Source); err != nil {
		return "", err
	}
	if info != nil && !options.Force {
		switch err := emptyOr(destination, errForeign); {
		case errors.Is(err, errForeign):
			return "", errors.New("it isn't empty: force replaces what is there")
		case !errors.Is(err, errAbsent):
			return "", err
		}
	}
	return destination, nil
}

// errMount says that another folder can't take the place of this one.
var errMount = errors.New("it is where a file system is mounted: choose a folder below it")

// isMount tells whether a folder is of another file system than the one that it is in.
func isMount(path string, info fs.FileInfo) bool {
	above, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return false
	}
	own, ok := info.Sys().(*syscall.Stat_t)
	outer, also := above.Sys().(*syscall.Stat_t)
	return ok && also && own.Dev != outer.Dev
}

// checkApart refuses a destination that is in the source or around it: in its folder, or where it has its objects.
func checkApart(destination, source string) error {
	own, common, err := find(source)
	if err != nil {
		return err
	}
	destination = realPath(destination)
	for _, place := range []string{source, own, common} {
		if place == "" {
			continue
		}
		if place, err = filepath.Abs(place); err != nil {
			return err
		}
		place = realPath(place)
		switch {
		case isSame(destination, place):
			return errors.New("it is the source")
		case isBelow(destination, place):
			return fmt.Errorf("it is inside of the source %s: choose one beside it", place)
		case isBelow(place, destination):
			return fmt.Errorf("the source %s is inside of it", place)
		}
	}
	return nil
}

// realPath is a path without links, as far as there is something.
func realPath(path string) string {
	rest := ""
	for at := path; ; at = filepath.Dir(at) {
		if found, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(found, rest)
		}
		if at == filepath.Dir(at) {
			return path
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

// isSame tells whether two paths are those of one folder, which may have several: where it is mounted twice, or letters may be small or capital ones.
func isSame(path, other string) bool {
	if path == other {
		return true
	}
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	found, err := os.Stat(other)
	return err == nil && os.SameFile(info, found)
}

// isBelow tells whether a path leads through a folder.
func isBelow(path, above string) bool {
	for at := path; at != filepath.Dir(at); {
		if at = filepath.Dir(at); isSame(at, above) {
			return true
		}
	}
	return false
}

// missingParents are the folders above a path that aren't there, inner ones first.
func missingParents(path string) (missing []string) {
	for at := filepath.Dir(path); ; at = filepath.Dir(at) {
		if _, err := os.Lstat(at); !errors.Is(err, fs.ErrNotExist) {
			return missing
		}
		missing = append(missing, at)
	}
}

// removeEmpty removes folders in which nothing is.
func removeEmpty(folders []string) {
	for _, folder := range folders {
		_ = os.Remove(folder) // one that somebody uses by now stays
	}
}

// advised says what to do about a place in which nothing can be made.
func (b *builder) advised(err error) error {
	switch {
	case errors.Is(err, syscall.EBUSY):
		return &refusedError{errMount}
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w: choose a folder in which you may write", err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG):
		return fmt.Errorf("%w: make room: about %d bytes are needed", err, b.report.SourceBytes)
	}
	return err
}
