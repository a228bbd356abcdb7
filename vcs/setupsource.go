package vcs

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// openSource opens the repository that Setup reads.
func openSource(path string) (*Repository, error) {
	if strings.TrimSpace(path) == "" {
		return nil, &ConfigError{"setup", "source", errors.New("none is given")}
	}
	source, err := Open(path)
	if err != nil {
		return nil, err
	}
	if shared, err := source.files.Stat("objects/info/alternates"); err == nil && shared.Size() > 0 {
		return nil, errors.Join(&ConfigError{"open", path, errors.New("some of its objects are in another repository, which its file " +
			"objects/info/alternates names: copy them with 'git repack -a -d' and remove that file")}, source.Close())
	}
	return source, nil
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

// explained says why an object may be missing.
func (b *builder) explained(err error) error {
	if !errors.Is(err, plumbing.ErrObjectNotFound) {
		return err
	}
	files, readErr := b.source.files.ReadDir("objects/pack")
	for _, file := range files {
		if readErr == nil && path.Ext(file.Name()) == ".promisor" {
			return fmt.Errorf("%w: the source is a partial clone, which has only some of its objects: clone all of it", err)
		}
	}
	return fmt.Errorf("%w: the source is broken, or isn't all there", err)
}

// size is how long the packs and files are in which a repository has its objects.
func (r *Repository) size() (total int64, err error) {
	folders, err := r.files.ReadDir("objects")
	if err != nil {
		return 0, err
	}
	for _, folder := range folders {
		if !folder.IsDir() || folder.Name() != "pack" && len(folder.Name()) != 2 {
			continue
		}
		files, err := r.files.ReadDir(path.Join("objects", folder.Name()))
		if err != nil {
			return 0, err
		}
		for _, file := range files {
			if folder.Name() != "pack" || path.Ext(file.Name()) == ".pack" {
				total += file.Size()
			}
		}
	}
	return total, nil
}
