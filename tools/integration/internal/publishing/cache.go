package publishing

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// stale is the age at which versions of our own modules are removed from the module cache. A version is named for its
// contents, so it isn't used any more after the next change.
const stale = 24 * time.Hour

// forget removes stale versions of our own modules from a module cache. It keeps the current version, which other
// processes may be using.
func forget(cache, current string) error {
	ours := filepath.Join("github.com", "operkit")
	unpacked := walk(filepath.Join(cache, ours), func(path string, entry fs.DirEntry) error {
		if !entry.IsDir() || !strings.Contains(entry.Name(), "@") {
			return nil
		}
		if !strings.HasSuffix(entry.Name(), "@"+current) && isStale(entry) {
			if err := os.RemoveAll(path); err != nil {
				return err
			}
		}
		return filepath.SkipDir
	})
	fetched := walk(filepath.Join(cache, "cache", "download", ours), func(path string, entry fs.DirEntry) error {
		if entry.IsDir() || strings.HasPrefix(entry.Name(), current+".") || !isStale(entry) {
			return nil
		}
		return os.Remove(path)
	})
	return errors.Join(unpacked, fetched)
}

// walk visits everything below a folder, if the folder exists. It ignores files that are removed meanwhile.
func walk(dir string, visit func(path string, entry fs.DirEntry) error) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil {
			err = visit(path, entry)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
}

func isStale(entry fs.DirEntry) bool {
	info, err := entry.Info()
	return err == nil && time.Since(info.ModTime()) > stale
}
