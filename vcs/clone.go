package vcs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/index"
)

// tracked is a file or link in the index of a clone.
type tracked struct {
	path string
	mode filemode.FileMode
	hash plumbing.Hash
}

// cloneConfig is the configuration of a clone. It has nothing from the configuration of the source.
const cloneConfig = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n"

// clone makes a repository beside the files. It has copies of the objects, tags and branches of the source, and its
// HEAD is at the commit.
func (r *Repository) clone(ctx context.Context, root *os.Root, commit Commit, w *writer) error {
	for _, folder := range []string{".git", ".git/objects", ".git/objects/pack", ".git/objects/info", ".git/refs", ".git/refs/heads", ".git/refs/tags", ".git/info"} {
		if err := root.Mkdir(folder, 0o755); err != nil {
			return err
		}
	}
	// git writes objects before the references to them. So read the references first: then all their objects exist.
	references, err := r.clonedRefs()
	if err != nil {
		return err
	}
	// A shallow clone lists the commits whose parents it lacks in the file shallow. Without this file, git would report
	// the parents as missing.
	if err := r.copyIfThere(root, "shallow", w); err != nil {
		return err
	}
	if err := r.copyObjects(ctx, root, w); err != nil {
		return err
	}
	for name, text := range map[string]string{
		".git/HEAD": string(commit) + "\n", ".git/config": cloneConfig, ".git/packed-refs": references, ".git/info/exclude": "/" + markerName + "\n",
	} {
		if err := root.WriteFile(name, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return writeIndex(root, w.tracked)
}

// clonedRefs returns the tags and branches of the source in the format of packed-refs.
func (r *Repository) clonedRefs() (string, error) {
	references, err := r.references()
	if err != nil {
		return "", err
	}
	var text strings.Builder
	text.WriteString("# pack-refs with: sorted \n")
	for _, one := range references {
		if kind := newRef(one.name).Kind; (kind == Tag || kind == Branch) && checkRevision(one.name) == nil && !one.hash.IsZero() {
			fmt.Fprintf(&text, "%s %s\n", one.hash, one.name)
		}
	}
	return text.String(), nil
}

// writeIndex writes an index with the times of the files, so that git needn't read the files again.
func writeIndex(root *os.Root, files []tracked) error {
	slices.SortFunc(files, func(a, b tracked) int { return cmp.Compare(a.path, b.path) })
	all := &index.Index{Version: 2}
	for _, file := range files {
		info, err := root.Lstat(filepath.FromSlash(file.path))
		if err != nil {
			return err
		}
		entry := &index.Entry{Name: file.path, Hash: file.hash, Mode: file.mode, ModifiedAt: info.ModTime(), Size: uint32(info.Size())}
		if system, ok := info.Sys().(*syscall.Stat_t); ok {
			entry.CreatedAt = changed(system)
			entry.Dev, entry.Inode, entry.UID, entry.GID = uint32(system.Dev), uint32(system.Ino), system.Uid, system.Gid
		}
		all.Entries = append(all.Entries, entry)
	}
	file, err := root.OpenFile(".git/index", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(index.NewEncoder(file).Encode(all), file.Close())
}

// copyObjects copies the objects of the source, first the loose ones, then the packs. If git packs a loose object
// meanwhile, the object is copied with its pack.
func (r *Repository) copyObjects(ctx context.Context, root *os.Root, w *writer) error {
	err := r.walkObjects(func(folder, at string, _ fs.DirEntry) error {
		if len(folder) != 2 || strings.Trim(folder, "0123456789abcdef") != "" {
			return nil
		}
		return errors.Join(ctx.Err(), r.copyIfThere(root, at, w))
	})
	if err != nil {
		return err
	}
	return r.copyPacks(ctx, root, w)
}

// copyIfThere copies a file of the source if it exists.
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

// maxTries limits how often the packs are listed again because some vanished during the copy.
const maxTries = 10

// copyPacks copies packs with their indexes. If a pack vanishes, git has replaced it, and a new pack has its objects.
// An index whose pack is missing twice is ignored, as by git.
func (r *Repository) copyPacks(ctx context.Context, root *os.Root, w *writer) error {
	var before []string
	for range maxTries {
		missing, err := r.copyPacksThere(ctx, root, w)
		if err != nil || slices.Equal(missing, before) {
			return err
		}
		before = missing
	}
	return fmt.Errorf("%s: its packs are replaced faster than they can be copied: try again", packFolder)
}

// copyPacksThere copies the packs that aren't copied yet, and returns the packs that vanished after they were listed.
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

// copyFile copies a file of the source to the same path in the clone.
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
