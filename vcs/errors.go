package vcs

import (
	"errors"
	"fmt"
	"syscall"
	"time"
)

// ConfigError says that what was asked for can't be done, now or later: a repository, a revision or a destination isn't what it
// has to be.
type ConfigError struct {
	// Op is what was to be done, Subject what it was about: a path, or a revision in quotes.
	Op, Subject string
	// Err is what is wrong.
	Err error
}

// Error names the subject before what is wrong.
func (e *ConfigError) Error() string { return e.Op + " " + e.Subject + ": " + e.Err.Error() }

// Unwrap returns Err.
func (e *ConfigError) Unwrap() error { return e.Err }

// ContentionError says that somebody else works on the same destination.
type ContentionError struct {
	// Path is the destination.
	Path string
	// RetryAfter is when it makes sense to ask again.
	RetryAfter time.Duration
	// Err is why nobody waits any longer.
	Err error
}

// Error names the destination.
func (e *ContentionError) Error() string {
	return fmt.Sprintf("%s: somebody else is working on it: %v", e.Path, e.Err)
}

// Unwrap returns Err.
func (e *ContentionError) Unwrap() error { return e.Err }

// RuntimeError says that something failed that should have worked: a disk is full, too many files are open, a repository is broken.
type RuntimeError struct {
	// Op is what was to be done, Subject what it was about.
	Op, Subject string
	// Err is what failed.
	Err error
}

// Error names the subject before what failed.
func (e *RuntimeError) Error() string { return e.Op + " " + e.Subject + ": " + e.Err.Error() }

// Unwrap returns Err.
func (e *RuntimeError) Unwrap() error { return e.Err }

// fromSystem tells of an error that it is one of the system, such as that a disk can't be read: it says nothing of what was asked for. That there is nothing
// of some name, or can't be, does.
func fromSystem(err error) bool {
	if err == nil {
		return false // most often, and without taking memory
	}
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

func quoted(text string) string { return fmt.Sprintf("%q", text) }
