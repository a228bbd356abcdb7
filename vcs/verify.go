package vcs

import (
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// maxDifferences limits the differences that an error lists.
const maxDifferences = 10

// Verify compares the files of a checkout with its commit, byte by byte. It returns nil if they are the same. It
// returns a *ConfigError if they differ, with a list of the differences, or if the folder isn't a checkout. If the
// files can't be compared, for example because the repository doesn't have the commit, it returns a *RuntimeError or
// the cause of ctx. Then the folder may be right or wrong.
func (r *Repository) Verify(ctx context.Context, folder string) error {
	refused := func(err error) error { return &ConfigError{"verify", folder, err} }
	failed := func(err error) error { return &RuntimeError{"verify", folder, r.explained(err)} }
	m, err := readMarker(folder)
	if fromSystem(err) {
		return failed(err)
	}
	if err != nil {
		return refused(err)
	}
	info, err := r.commit(m.Commit)
	if err != nil {
		return failed(fmt.Errorf("it may be a checkout of another repository: %w", err))
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return failed(err)
	}
	v := &verifier{repository: r, root: root, own: []string{markerName}}
	if m.Method == Clone {
		v.own = append(v.own, ".git")
	}
	if err := errors.Join(v.folder(ctx, ".", info.tree), root.Close()); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return failed(err)
	}
	if len(v.differences) == 0 {
		return nil
	}
	listed := v.differences[:min(len(v.differences), maxDifferences)]
	if more := len(v.differences) - len(listed); more > 0 {
		listed = append(slices.Clone(listed), fmt.Sprintf("and %d more", more))
	}
	return refused(fmt.Errorf("it differs from the commit %s: %s", m.Commit, strings.Join(listed, "; ")))
}

type verifier struct {
	repository *Repository
	root       *os.Root
	// own are the names in the top folder that belong to the checkout but not to the commit.
	own         []string
	differences []string
}

func (v *verifier) differs(at, what string) { v.differences = append(v.differences, at+" "+what) }

// folder compares a folder with a tree.
func (v *verifier) folder(ctx context.Context, at string, tree plumbing.Hash) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	entries, err := v.repository.tree(tree)
	if err != nil {
		return err
	}
	there, err := fs.ReadDir(v.root.FS(), at)
	if err != nil {
		return err
	}
	wanted := map[string]bool{}
	for _, e := range entries {
		wanted[e.name] = true
		if err := v.entry(ctx, path.Join(at, e.name), e); err != nil {
			return err
		}
	}
	for _, e := range there {
		if !wanted[e.Name()] && !(at == "." && slices.Contains(v.own, e.Name())) {
			v.differs(path.Join(at, e.Name()), "isn't part of the commit")
		}
	}
	return nil
}

func (v *verifier) entry(ctx context.Context, at string, e entry) error {
	info, err := v.root.Lstat(at)
	if errors.Is(err, fs.ErrNotExist) {
		v.differs(at, "is missing")
		return nil
	}
	if err != nil {
		return err
	}
	kind, executable := info.Mode().Type(), info.Mode().Perm()&0o100 != 0
	switch e.mode {
	case modeFolder, modeModule:
		if kind != fs.ModeDir {
			v.differs(at, "isn't a folder")
			return nil
		}
		if e.mode == modeModule {
			return nil
		}
		return v.folder(ctx, at, e.hash)
	case modeLink:
		if kind != fs.ModeSymlink {
			v.differs(at, "isn't a link")
			return nil
		}
		target, err := v.root.Readlink(at)
		if err == nil && plumbing.ComputeHash(plumbing.BlobObject, []byte(target)) != e.hash {
			v.differs(at, "has another target")
		}
		return err
	}
	if kind != 0 {
		v.differs(at, "isn't a file")
		return nil
	}
	if executable != (e.mode == modeExecutable) {
		v.differs(at, "has other permissions")
	}
	hash, err := v.hash(at, info.Size())
	if err == nil && hash != e.hash {
		v.differs(at, "has another content")
	}
	return err
}

// hash returns the name that the file has as a git object.
func (v *verifier) hash(at string, size int64) (plumbing.Hash, error) {
	file, err := v.root.Open(at)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	sum := sha1.New() // the hash of plumbing has another result for files that collide in SHA-1
	begin(sum, plumbing.BlobObject, size)
	_, err = io.Copy(sum, file)
	return plumbing.Hash(sum.Sum(nil)), errors.Join(err, file.Close())
}
