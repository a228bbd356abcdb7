package vcs

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"syscall"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// ConfigError means that a request can't succeed, now or later: the repository, the revision, the destination or an
// option is wrong.
type ConfigError struct {
	// Op is the operation, such as checkout. Subject is its subject: a path, or a revision in quotes.
	Op, Subject string
	// Err describes what is wrong.
	Err error
}

// Error returns the operation, the subject and the text of Err.
func (e *ConfigError) Error() string { return e.Op + " " + e.Subject + ": " + e.Err.Error() }

// Unwrap returns Err.
func (e *ConfigError) Unwrap() error { return e.Err }

// ContentionError means that another goroutine or process is working on the same destination.
type ContentionError struct {
	// Path is the destination.
	Path string
	// RetryAfter is how long to wait before the next try.
	RetryAfter time.Duration
	// Err is the reason why the wait ended.
	Err error
}

// Error names the destination.
func (e *ContentionError) Error() string {
	return fmt.Sprintf("%s: somebody else is working on it: try again: %v", e.Path, e.Err)
}

// Unwrap returns Err.
func (e *ContentionError) Unwrap() error { return e.Err }

// RuntimeError means that a valid request failed: a disk is full, too many files are open, or a repository is broken.
type RuntimeError struct {
	// Op is the operation, Subject its subject.
	Op, Subject string
	// Err describes the failure.
	Err error
}

// Error returns the operation, the subject and the text of Err.
func (e *RuntimeError) Error() string { return e.Op + " " + e.Subject + ": " + e.Err.Error() }

// Unwrap returns Err.
func (e *RuntimeError) Unwrap() error { return e.Err }

// fromSystem reports whether an error is a failure of the system, such as a disk that can't be read. A missing file or
// an impossible name isn't a failure of the system.
func fromSystem(err error) bool {
	var number syscall.Errno
	if !errors.As(err, &number) {
		return false
	}
	switch number {
	case syscall.ENOENT, syscall.ENOTDIR, syscall.EISDIR, syscall.ELOOP, syscall.ENAMETOOLONG, syscall.EINVAL:
		return false
	}
	return true
}

// explained adds the likely cause to the error of a missing object.
func (r *Repository) explained(err error) error {
	if !errors.Is(err, plumbing.ErrObjectNotFound) {
		return err
	}
	files, _ := fs.ReadDir(r.store.root.FS(), packFolder)
	if slices.ContainsFunc(files, func(file fs.DirEntry) bool { return path.Ext(file.Name()) == ".promisor" }) {
		return fmt.Errorf("%w: the repository %s is a partial clone, which has only some of its objects: clone all of it", err, r.path)
	}
	return fmt.Errorf("%w: the repository %s is broken or incomplete", err, r.path)
}
