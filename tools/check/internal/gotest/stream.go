package gotest

import (
	"bufio"
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

// Result is how one test ended in a stream.
type Result struct {
	Package, Test string
	Passed        bool
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
	results, err := parseResults(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return results, nil
}

func parseResults(in io.Reader) ([]Result, error) {
	type key struct{ pkg, test string }
	var (
		results []Result
		running = map[key]int{} // index in results of the last run of a test
		reader  = bufio.NewReader(in)
	)
	for {
		line, err := reader.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if event, ok := ParseEvent(line); ok && event.Test != "" {
			name := key{event.Package, event.Test}
			switch event.Action {
			case "run":
				running[name] = len(results)
				results = append(results, Result{Package: event.Package, Test: event.Test})
			case "pass":
				if at, ok := running[name]; ok {
					results[at].Passed = true
				}
			}
		}
		if err != nil {
			return results, nil //nolint:nilerr // the stream is at its end
		}
	}
}
