package vcs

import (
	"fmt"
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

// RuntimeError says that something failed that should have worked: a disk is full, a repository is broken.
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

func quoted(text string) string { return fmt.Sprintf("%q", text) }
