package vcs

import (
	"bytes"
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

// mostDifferences is how many are told.
const mostDifferences = 10

// Verify tells whether what is in the folder of a checkout still is its commit, to the last byte: nil if it is, otherwise a *ConfigError that names
// what differs, or says that the folder is no checkout. What keeps them from being compared is a *RuntimeError, and when ctx ends it is the cause of
// that: both say nothing of the folder. A commit that the repository doesn't have is such a one, since either of both may be the wrong one.
// It reads all files, and writes nothing.
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
		return failed(fmt.Errorf("it says that it is a checkout, maybe of another repository, of %w", err))
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
	told := v.differences[:min(len(v.differences), mostDifferences)]
	if more := len(v.differences) - len(told); more > 0 {
		told = append(slices.Clone(told), fmt.Sprintf("and %d more", more))
	}
	return refused(fmt.Errorf("it isn't the commit %s any more: %s", m.Commit, strings.Join(told, "; ")))
}

type verifier struct {
	repository *Repository
	root       *os.Root
	// own are the names in the folder that are no part of the commit.
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
			v.differs(path.Join(at, e.Name()), "is no part of it")
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
			v.differs(at, "is no folder")
			return nil
		}
		if e.mode == modeModule {
			return nil
		}
		return v.folder(ctx, at, e.hash)
	case modeLink:
		if kind != fs.ModeSymlink {
			v.differs(at, "is no link")
			return nil
		}
		target, err := v.root.Readlink(at)
		if err == nil && plumbing.ComputeHash(plumbing.BlobObject, []byte(target)) != e.hash {
			v.differs(at, "leads elsewhere")
		}
		return err
	}
	if kind != 0 {
		v.differs(at, "is no file")
		return nil
	}
	if executable != (e.mode == modeExecutable) {
		v.differs(at, "has other rights")
	}
	hash, err := v.hash(at, info.Size())
	if err == nil && !bytes.Equal(hash, e.hash[:]) {
		v.differs(at, "has another content")
	}
	return err
}

// hash is the name that git gives to a file.
func (v *verifier) hash(at string, size int64) (sum []byte, err error) {
	file, err := v.root.Open(at)
	if err != nil {
		return nil, err
	}
	hash := sha1.New()
	fmt.Fprintf(hash, "blob %d\x00", size)
	_, err = io.Copy(hash, file)
	return hash.Sum(nil), errors.Join(err, file.Close())
}
