package vcs

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// openSource opens the repository that Setup reads.
func openSource(path string) (*Repository, error) {
	if strings.TrimSpace(path) == "" {
		return nil, &ConfigError{"setup", "source", errors.New("none is given")}
	}
	return Open(path)
}

// kindOf is what a reference that comes to no commit comes to.
func (r *Repository) kindOf(ref Ref) (plumbing.ObjectType, error) {
	hash, found, err := r.reference(ref.Full)
	if err == nil && !found {
		err = errUnknown
	}
	for range mostTags {
		if err != nil {
			return 0, err
		}
		obj, err := r.object(hash)
		if err != nil {
			return 0, fmt.Errorf("object %s: %w", hash, err)
		}
		if obj.kind == plumbing.TreeObject || obj.kind == plumbing.BlobObject {
			return obj.kind, nil
		}
		if hash, err = obj.id("object"); err != nil {
			return 0, fmt.Errorf("object %s: %w", obj.hash, err)
		}
	}
	return 0, fmt.Errorf("it is a tag of a tag of a tag, %d times over", mostTags)
}

// size is how long the packs and files are in which a repository has its objects.
func (r *Repository) size() (total int64, err error) {
	files := r.store.root.FS()
	folders, err := fs.ReadDir(files, "objects")
	if err != nil {
		return 0, err
	}
	for _, folder := range folders {
		if !folder.IsDir() || folder.Name() != "pack" && len(folder.Name()) != 2 {
			continue
		}
		entries, err := fs.ReadDir(files, path.Join("objects", folder.Name()))
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // somebody packs the repository anew
			return 0, err
		}
		for _, e := range entries {
			if folder.Name() == "pack" && path.Ext(e.Name()) != ".pack" {
				continue
			}
			if info, err := e.Info(); err == nil {
				total += info.Size()
			}
		}
	}
	return total, nil
}
