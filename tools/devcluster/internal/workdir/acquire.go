package workdir

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/operkit/operkit/tools/devcluster/internal/unixsocket"
)

const (
	// leftoverPatience is how long Acquire waits for the processes of a killed supervisor to end.
	leftoverPatience = 5 * time.Second
	pollInterval     = 20 * time.Millisecond
)

// RunningError is the error if a cluster already runs in the directory.
type RunningError struct {
	Dir Dir
}

func (e *RunningError) Error() string {
	return fmt.Sprintf("cluster directory %s: a cluster runs there already; stop it with 'devcluster down --dir %s' or give another --dir", e.Dir, e.Dir)
}

// Lock holds a directory until Release.
type Lock struct {
	file *os.File
}

// File is the locked file. A child that inherits it keeps the directory locked until the child ends.
func (l *Lock) File() *os.File { return l.file }

// Release unlocks the directory, even if a child still has the file.
func (l *Lock) Release() {
	_ = syscall.Flock(int(l.file.Fd()), syscall.LOCK_UN)
	_ = l.file.Close()
}

// Acquire creates the directory if it doesn't exist, locks it, and removes the files of an earlier cluster. It returns
// a *RunningError if a cluster runs in the directory.
func (d Dir) Acquire(ctx context.Context) (*Lock, error) {
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return nil, fmt.Errorf("cluster directory %s cannot be made: %w", d, err)
	}
	if err := d.refuseForeign(); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(d.lock(), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cluster directory %s cannot be written: %w", d, err)
	}
	if err := d.take(ctx, file); err != nil {
		_ = file.Close()
		return nil, err
	}
	lock := &Lock{file: file}
	if err := d.reset(); err != nil {
		lock.Release()
		return nil, err
	}
	return lock, nil
}

// refuseForeign returns an error for a directory with other files, such as a home directory given by mistake.
func (d Dir) refuseForeign() error {
	entries, err := os.ReadDir(string(d))
	if err != nil {
		return fmt.Errorf("cluster directory %s cannot be read: %w", d, err)
	}
	if len(entries) == 0 {
		return nil
	}
	for _, entry := range entries {
		if entry.Name() == lockName {
			return nil
		}
	}
	return fmt.Errorf("cluster directory %s holds other files (such as %s): give an empty one or one that devcluster made", d, entries[0].Name())
}

func (d Dir) take(ctx context.Context, file *os.File) error {
	deadline := time.Now().Add(leftoverPatience)
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, syscall.EWOULDBLOCK):
			return fmt.Errorf("cluster directory %s cannot be locked: %w", d, err)
		case d.Served(ctx), time.Now().After(deadline):
			return &RunningError{Dir: d}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("cluster directory %s: %w", d, context.Cause(ctx))
		case <-time.After(pollInterval):
		}
	}
}

// Served reports whether a supervisor serves the control socket of the directory. It distinguishes a running cluster
// from the last processes of an ending one.
func (d Dir) Served(ctx context.Context) bool {
	conn, err := unixsocket.Dial(ctx, d.ControlSocket())
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

func (d Dir) reset() error {
	if err := os.Chmod(string(d), 0o700); err != nil {
		return fmt.Errorf("cluster directory: %w", err)
	}
	unfinished, err := filepath.Glob(d.file(".state-*"))
	if err != nil {
		return fmt.Errorf("cluster directory: %w", err)
	}
	for _, path := range append(unfinished, d.contents()...) {
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("cluster directory: %w", err)
		}
	}
	for _, name := range []string{pkiName, logsName, runName} {
		if err := os.Mkdir(d.file(name), 0o700); err != nil {
			return fmt.Errorf("cluster directory: %w", err)
		}
	}
	return nil
}

// Taken reports whether the directory is locked by a cluster or by processes that are left of one.
func (d Dir) Taken() (bool, error) {
	file, err := os.Open(d.lock())
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("cluster directory: %w", err)
	}
	defer func() { _ = file.Close() }()
	switch err := syscall.Flock(int(file.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("cluster directory %s cannot be locked: %w", d, err)
	}
	return false, nil
}
