package vcs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// checkPlaces returns the absolute destination. It returns an error if the destination may not be replaced, is inside
// the source, or contains it.
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
		return "", errors.New("it is a symbolic link: name its target")
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
			return "", errors.New("it isn't empty: use force to replace it")
		case !errors.Is(err, errAbsent):
			return "", err
		}
	}
	return destination, nil
}

// errMount means that a folder can't be replaced because a file system is mounted on it.
var errMount = errors.New("a file system is mounted on it: choose a folder below it")

// isMount reports whether a folder is on a different file system than its parent.
func isMount(path string, info fs.FileInfo) bool {
	above, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return false
	}
	own, ok := info.Sys().(*syscall.Stat_t)
	outer, also := above.Sys().(*syscall.Stat_t)
	return ok && also && own.Dev != outer.Dev
}

// checkApart refuses a destination that is inside the source or its repository, or contains one of them.
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
			return fmt.Errorf("it is inside the source %s: choose a folder beside the source", place)
		case isBelow(place, destination):
			return fmt.Errorf("the source %s is inside it: choose a folder beside the source", place)
		}
	}
	return nil
}

// realPath resolves the links in the existing part of a path.
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

// isSame reports whether two paths lead to the same folder. The paths may differ if the folder is mounted twice, or if
// the file system ignores case.
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

// isBelow reports whether a path is inside a folder.
func isBelow(path, above string) bool {
	for at := path; at != filepath.Dir(at); {
		if at = filepath.Dir(at); isSame(at, above) {
			return true
		}
	}
	return false
}

// missingParents returns the folders above a path that don't exist, inner ones first.
func missingParents(path string) (missing []string) {
	for at := filepath.Dir(path); ; at = filepath.Dir(at) {
		if _, err := os.Lstat(at); !errors.Is(err, fs.ErrNotExist) {
			return missing
		}
		missing = append(missing, at)
	}
}

// removeEmpty removes folders that are empty.
func removeEmpty(folders []string) {
	for _, folder := range folders {
		_ = os.Remove(folder) // Remove fails on purpose if the folder has content by now
	}
}

// advised adds a hint to the error of a destination that can't be written.
func (b *builder) advised(err error) error {
	switch {
	case errors.Is(err, syscall.EBUSY):
		return &refusedError{errMount}
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w: choose a folder in which you may write", err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG):
		return fmt.Errorf("%w: free about %d bytes", err, b.report.SourceBytes)
	}
	return err
}
