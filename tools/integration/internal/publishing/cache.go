package publishing

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// stale is the age at which versions of our own modules go from the module cache: each is named for its contents, and
// is worthless with the next change.
const stale = 24 * time.Hour

// forget removes stale versions of our own modules from a module cache, but for the current one, which others may use
// now.
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

// walk visits what is below a folder, if that is there. What goes meanwhile isn't missed.
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
