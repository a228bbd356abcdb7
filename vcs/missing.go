package vcs

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
)

// explained says why an object may be missing.
func (r *Repository) explained(err error) error {
	if !errors.Is(err, plumbing.ErrObjectNotFound) {
		return err
	}
	files, _ := fs.ReadDir(r.store.root.FS(), packFolder)
	if slices.ContainsFunc(files, func(file fs.DirEntry) bool { return path.Ext(file.Name()) == ".promisor" }) {
		return fmt.Errorf("%w: the repository %s is a partial clone, which has only some of its objects: clone all of it", err, r.path)
	}
	return fmt.Errorf("%w: the repository %s is broken, or isn't all there", err, r.path)
}
