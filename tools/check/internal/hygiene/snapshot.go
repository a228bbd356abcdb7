package hygiene

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/operkit/operkit/tools/check/internal/repository"
)

// file is what one holds at a moment, and when that was written.
type file struct {
	text    []byte
	written time.Time
}

// untouch gives files that were written again with what they had their time back: the go command would take no result
// that it knows of a test that has read one of them.
func untouch(r *repository.Repository, before, after map[string]file) error {
	for name, was := range before {
		now, there := after[name]
		if !there || now.written.Equal(was.written) || !bytes.Equal(now.text, was.text) {
			continue
		}
		if err := os.Chtimes(filepath.Join(r.Root, filepath.FromSlash(name)), time.Time{}, was.written); err != nil {
			return err
		}
	}
	return nil
}

// snapshot holds the repository's files by name.
func snapshot(ctx context.Context, r *repository.Repository) (map[string]file, error) {
	files, err := r.Files(ctx)
	if err != nil {
		return nil, err
	}
	found := make(map[string]file, len(files))
	for _, name := range files {
		path := filepath.Join(r.Root, filepath.FromSlash(name))
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		found[name] = file{text, info.ModTime()}
	}
	return found, nil
}
