package gotest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/operkit/operkit/tools/check/repository"
)

// StreamFile returns the path of the file with the events of the last complete run of a module's tests.
func StreamFile(r *repository.Repository, m repository.Module) string {
	return filepath.Join(r.Cache(), "test", filepath.FromSlash(m.Dir)+".jsonl")
}

// stream writes a file that replaces the previous one only when it is complete.
type stream struct {
	file *os.File
	path string
}

func createStream(path string) (*stream, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return nil, err
	}
	return &stream{file: file, path: path}, nil
}

// close keeps the new file if the run is complete, and removes it otherwise.
func (s *stream) close(complete bool) error {
	err := s.file.Close()
	if err == nil && complete {
		return os.Rename(s.file.Name(), s.path)
	}
	return errors.Join(err, os.Remove(s.file.Name()))
}

// ReadResults returns how the tests and subtests of a module ended in the last complete run; a test that was skipped or
// didn't end hasn't passed. It returns no results for a module whose tests were never run.
func ReadResults(path string) ([]Result, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	collector := NewCollector(io.Discard)
	split := &lines{each: collector.Line}
	if _, err := io.Copy(split, file); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	split.flush()
	collector.Close()
	return collector.Results, nil
}
