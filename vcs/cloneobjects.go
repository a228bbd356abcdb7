package vcs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// copyObjects copies the objects of the source: loose ones first, since one that is packed meanwhile is in a pack then.
func (r *Repository) copyObjects(ctx context.Context, root *os.Root, w *writer) error {
	source := r.store.root.FS()
	folders, err := fs.ReadDir(source, "objects")
	if err != nil {
		return err
	}
	for _, folder := range folders {
		name := folder.Name()
		if !folder.IsDir() || len(name) != 2 || strings.Trim(name, "0123456789abcdef") != "" {
			continue
		}
		files, err := fs.ReadDir(source, path.Join("objects", name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, file := range files {
			if !file.Type().IsRegular() {
				continue
			}
			if err := errors.Join(ctx.Err(), r.copyIfThere(root, path.Join("objects", name, file.Name()), w)); err != nil {
				return err
			}
		}
	}
	return r.copyPacks(ctx, root, w)
}

// copyIfThere copies a file of the source that may have been removed.
func (r *Repository) copyIfThere(root *os.Root, at string, w *writer) error {
	file, err := openFile(r.store.root, at)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(copyFile(root, at, file, w), file.Close())
}

// mostTries is how often packs are looked for again that vanish while they are copied.
const mostTries = 10

// copyPacks copies packs with their indexes. If one vanishes somebody is packing the repository anew, and what was in it is in one that wasn't there before. An
// index whose pack is missing twice has none: git ignores it, too.
func (r *Repository) copyPacks(ctx context.Context, root *os.Root, w *writer) error {
	var before []string
	for range mostTries {
		missing, err := r.copyPacksThere(ctx, root, w)
		if err != nil || slices.Equal(missing, before) {
			return err
		}
		before = missing
	}
	return fmt.Errorf("%s: its packs are replaced faster than they can be copied: try again", packFolder)
}

// copyPacksThere copies the packs that aren't copied yet, but for those that are missing although they were listed.
func (r *Repository) copyPacksThere(ctx context.Context, root *os.Root, w *writer) (missing []string, err error) {
	names, err := packNames(r.store.root)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		at := packFolder + "/" + name
		if _, err := root.Lstat(".git/" + at + ".idx"); err == nil {
			continue
		}
		file, index, err := openPackFiles(r.store.root, at)
		if errors.Is(err, fs.ErrNotExist) {
			missing = append(missing, name)
			continue
		}
		if err != nil {
			return nil, err
		}
		if err = errors.Join(ctx.Err(), copyFile(root, at+".pack", file, w)); err == nil {
			err = copyFile(root, at+".idx", index, w)
		}
		if err = errors.Join(err, file.Close(), index.Close()); err != nil {
			return nil, err
		}
	}
	return missing, nil
}

// copyFile copies a file of the source to the same place of a clone.
func copyFile(root *os.Root, at string, from *os.File, w *writer) error {
	info, err := from.Stat()
	if err == nil {
		err = w.count(info.Size())
	}
	if err != nil {
		return err
	}
	if err := root.Mkdir(".git/"+path.Dir(at), 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	to, err := root.OpenFile(".git/"+at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}
