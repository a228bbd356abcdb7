package vcs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/index"
)

// tracked is a file that git is to know.
type tracked struct {
	path string
	mode filemode.FileMode
	hash plumbing.Hash
}

// cloneConfig is the configuration of a clone: what the source's says is the source's.
const cloneConfig = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n"

// clone puts a repository beside the files: the objects and references of the source, at the commit. It shares nothing with the source.
func (r *Repository) clone(ctx context.Context, root *os.Root, commit Commit, w *writer) error {
	for _, folder := range []string{".git", ".git/objects", ".git/objects/pack", ".git/objects/info", ".git/refs", ".git/refs/heads", ".git/refs/tags", ".git/info"} {
		if err := root.Mkdir(folder, 0o755); err != nil {
			return err
		}
	}
	// In the opposite order to git, which somebody may run meanwhile: it writes an object before what says that it is there.
	references, err := r.clonedRefs()
	if err != nil {
		return err
	}
	// That is where a shallow clone says of which commits it doesn't have those before them: without it they would be missing.
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

// clonedRefs are the tags and branches of the source, as the file packed-refs has them.
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

// writeIndex has git know the files as they are, so that it needn't read them again.
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
