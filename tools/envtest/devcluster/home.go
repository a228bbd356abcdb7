package devcluster

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/operkit/operkit/tools/envtest/internal/filelock"
)

const (
	homePrefix = "operkit-"
	ownerName  = "owner.lock"
	// longestTemp is the maximum length of the temporary directory: below a longer one, the paths of unix sockets would
	// exceed their limit of about a hundred bytes.
	longestTemp = 40
	// logTail is how much of the log goes into a message.
	logTail = 4 << 10
)

// home is the folder of a started cluster. It has the cluster's own folder, the supervisor's log, and a file that is
// locked while a process needs the home.
type home string

// newHome creates a home, locks it for this process, and removes homes that no process needs any more.
func newHome(ctx context.Context) (home, *filelock.Lock, error) {
	base := os.TempDir()
	if len(base) > longestTemp {
		base = "/tmp"
	}
	sweep(base)
	for {
		dir, err := os.MkdirTemp(base, homePrefix)
		if err != nil {
			return "", nil, err
		}
		lock, err := filelock.Acquire(ctx, home(dir).owner(), nil)
		switch {
		case err == nil:
			return home(dir), lock, nil
		case errors.Is(err, os.ErrNotExist): // another process' sweep removed the home before it was locked
		default:
			return "", nil, errors.Join(err, os.RemoveAll(dir))
		}
	}
}

func (h home) cluster() string { return filepath.Join(string(h), "cluster") }

func (h home) owner() string { return filepath.Join(string(h), ownerName) }

func (h home) remove() error { return os.RemoveAll(string(h)) }

// sweep removes homes whose processes have all ended. It ignores homes that it can't remove.
func sweep(base string) {
	owners, err := filepath.Glob(filepath.Join(base, homePrefix+"*", ownerName))
	if err != nil {
		return
	}
	for _, owner := range owners {
		lock, err := filelock.Try(owner)
		if err != nil || lock == nil {
			continue
		}
		_ = os.RemoveAll(filepath.Dir(owner))
		_ = lock.Release()
	}
}

// openLog creates the file that the supervisor logs to.
func (h home) openLog() (*os.File, error) {
	return os.OpenFile(h.log(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
}

func (h home) log() string { return filepath.Join(string(h), "log") }

// tail returns the end of the supervisor's log.
func (h home) tail() string {
	text, err := os.ReadFile(h.log())
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(text[max(0, len(text)-logTail):]))
}
