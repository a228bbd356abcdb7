package vcs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Checkout is a folder with the files of a commit.
type Checkout struct {
	// Path is the absolute path of the folder.
	Path string
	// Commit is the commit whose files are in the folder.
	Commit Commit
	// Reused reports whether the folder held the commit already.
	Reused bool
	// Warnings are about files whose content isn't in the repository, such as files in Git LFS, and about old files
	// that couldn't be removed.
	Warnings []string
}

// Checkout writes the files of a revision into the folder destination. The folder appears complete or not at all. If
// the folder already holds the commit, Checkout returns it without comparing its files; use [Repository.Verify] to
// compare them. Revisions of the same commit may share a folder. Goroutines and processes that check out the same
// folder wait for each other, by a lock file beside the folder.
//
// Errors: *ConfigError if the folder has other content, the revision isn't known, an option is wrong, or the options
// don't allow the content of the commit, such as a submodule; *ContentionError if others were working on the folder
// until ctx ended, or at once with NoWait; *RuntimeError for other failures.
func (r *Repository) Checkout(ctx context.Context, revision, destination string, method Method, options ...CheckoutOption) (Checkout, error) {
	refused := func(err error) (Checkout, error) { return Checkout{}, &ConfigError{"checkout", destination, err} }
	o, err := newCheckoutOptions(method, options)
	if err != nil {
		return refused(err)
	}
	commit, err := r.Resolve(ctx, revision)
	if err != nil {
		return Checkout{}, err
	}
	destination, err = filepath.Abs(destination)
	if err != nil {
		return refused(err)
	}
	checkout := Checkout{Path: destination, Commit: commit, Reused: true}
	if err := present(destination, commit, method); !errors.Is(err, errAbsent) {
		return checkout, wrapped("checkout", destination, err)
	}
	unlock, err := lockFolder(ctx, destination, o.noWait)
	if err != nil {
		return Checkout{}, wrapped("checkout", destination, err)
	}
	defer unlock()
	if err := present(destination, commit, method); !errors.Is(err, errAbsent) {
		return checkout, wrapped("checkout", destination, err)
	}
	checkout.Reused = false
	checkout.Warnings, err = r.make(ctx, commit, destination, method, o)
	return checkout, wrapped("checkout", destination, err)
}

// wrapped returns an error as one of the public types.
func wrapped(op, destination string, err error) error {
	var refused *refusedError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errLocked):
		return &ContentionError{Path: destination, RetryAfter: retryAfter, Err: err}
	case errors.As(err, &refused):
		return &ConfigError{op, destination, refused.error}
	}
	return &RuntimeError{op, destination, err}
}

// refusedError is an error that another attempt wouldn't resolve. It becomes a ConfigError.
type refusedError struct{ error }

func refuse(format string, args ...any) error { return &refusedError{fmt.Errorf(format, args...)} }

// present returns nil if a folder holds the commit in the form of method. It returns errAbsent if the folder is missing
// or empty, and another error otherwise.
func present(path string, commit Commit, method Method) error {
	m, err := readMarker(path)
	switch {
	case errors.Is(err, errAbsent):
		return errAbsent
	case fromSystem(err):
		return err
	case err != nil:
		return &refusedError{err}
	case m.Commit != commit:
		return refuse("it holds the commit %s instead of %s: choose another folder", m.Commit, commit)
	case m.Method != method:
		return refuse("it is a %s instead of a %s: choose another folder", m.Method, method)
	}
	return nil
}

// make makes the folder. The caller holds its lock.
func (r *Repository) make(ctx context.Context, commit Commit, destination string, method Method, o checkoutOptions) (warnings []string, err error) {
	info, err := r.commit(commit)
	if err != nil {
		return nil, r.explained(err)
	}
	w := &writer{repository: r, options: o, track: method == Clone}
	left, err := makeBeside(ctx, destination, false, func(path string) (err error) {
		root, err := os.OpenRoot(path)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, root.Close()) }()
		if err := w.write(ctx, root, info.tree); err != nil {
			return err
		}
		if method == Clone {
			if err := r.clone(ctx, root, commit, w); err != nil {
				return err
			}
		}
		if err := writeMarker(root, marker{commit, method}); err != nil {
			return err
		}
		return w.finish(root)
	})
	return append(left, w.warnings...), r.explained(err)
}
