package consumer

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
	"golang.org/x/mod/module"

	"github.com/operkit/operkit/tools/check/repository"
	"github.com/operkit/operkit/tools/release/internal/git"
	"github.com/operkit/operkit/tools/release/internal/publication"
	"github.com/operkit/operkit/tools/release/proxy"
)

// Bench verifies published modules, one at a time. It has a proxy with the modules, and a module cache.
type Bench struct {
	modules []publication.Module
	dir     string   // temporary: the proxy, and a folder for each module
	env     []string // of the go commands
	log     io.Writer
	lock    *flock.Flock
}

// NewBench returns a Bench for the published modules of a repository. cache is the module cache; see [CacheFolder].
// NewBench removes the repository's modules from the cache, so that they are fetched again; other modules stay. Only
// one process at a time may use a cache. Progress is written to log. The caller must call Close.
func NewBench(ctx context.Context, r *repository.Repository, modules []publication.Module, cache string, log io.Writer) (*Bench, error) {
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return nil, err
	}
	lock := flock.New(cache + ".lock")
	if taken, err := lock.TryLock(); err != nil || !taken {
		return nil, cmp.Or(err, fmt.Errorf("%s.lock: another process verifies this repository: wait for its end", cache))
	}
	b := &Bench{modules: modules, log: log, lock: lock}
	if err := b.prepare(ctx, r, cache); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

func (b *Bench) prepare(ctx context.Context, r *repository.Repository, cache string) error {
	for _, m := range r.Modules {
		if err := forget(cache, m.Path); err != nil {
			return fmt.Errorf("module cache %s: %w", cache, err)
		}
	}
	var err error
	if b.dir, err = os.MkdirTemp("", "release-verify-"); err != nil {
		return err
	}
	at, err := git.Dir(r.Root).Time(ctx)
	if err != nil {
		return err
	}
	served := filepath.Join(b.dir, "proxy")
	if err := publication.Write(served, b.modules, at); err != nil {
		return err
	}
	if b.env, err = proxy.Environ(ctx, served); err != nil {
		return err
	}
	b.env = append(b.env, "GOMODCACHE="+cache, "GOFLAGS=-modcacherw") // -modcacherw: so that files in the cache can be removed
	return nil
}

// Close removes temporary files.
func (b *Bench) Close() error {
	var err error
	if b.dir != "" {
		err = os.RemoveAll(b.dir)
	}
	return errors.Join(err, b.lock.Unlock())
}

func (b *Bench) say(m publication.Module, format string, args ...any) {
	_, _ = fmt.Fprintf(b.log, "%s  %s: %s\n", time.Now().Format(time.TimeOnly), m.Dir, fmt.Sprintf(format, args...))
}

// CacheFolder returns the module cache for a repository, in the user's cache folder. It is outside of the repository,
// so that a test that looks for the repository in its parent folders doesn't find it.
func CacheFolder(r *repository.Repository) (string, error) {
	user, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("module cache: %w", err)
	}
	sum := sha256.Sum256([]byte(r.Root))
	return filepath.Join(user, "operkit", "release", filepath.Base(r.Root)+"-"+hex.EncodeToString(sum[:4])), nil
}

// forget removes all versions of a module from a module cache.
func forget(cache, modulePath string) error {
	escaped, err := module.EscapePath(modulePath)
	if err != nil {
		return err
	}
	name := filepath.FromSlash(escaped)
	unpacked, err := filepath.Glob(filepath.Join(cache, name+"@*"))
	if err != nil {
		return err
	}
	for _, folder := range append(unpacked, filepath.Join(cache, "cache", "download", name, "@v")) {
		if err := removeReadOnly(folder); err != nil {
			return err
		}
	}
	return nil
}

// removeReadOnly removes a folder of a module cache. Folders of modules that were fetched without -modcacherw are
// read-only.
func removeReadOnly(folder string) error {
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			return os.Chmod(path, 0o755)
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(err, os.RemoveAll(folder))
}
