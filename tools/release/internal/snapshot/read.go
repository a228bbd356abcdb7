package snapshot

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"
	modzip "golang.org/x/mod/zip"

	"github.com/operkit/operkit/tools/check/repository"
	"github.com/operkit/operkit/tools/release/internal/git"
)

// licence is the file that the go command takes from the top of the repository if a module has no licence file.
const licence = "LICENSE"

// Files are the contents of a module's files by their paths in the module, with slashes. Files of nested modules aren't
// included.
type Files map[string][]byte

// Tree reads the files of a module in the working tree: files that git tracks, and untracked files that it doesn't
// ignore.
func Tree(ctx context.Context, r *repository.Repository, m repository.Module) (Files, error) {
	names, err := r.Files(ctx, "", m.Dir)
	if err != nil {
		return nil, fmt.Errorf("files of module %s: %w", m.Dir, err)
	}
	all := map[string][]byte{}
	for _, name := range names {
		if all[name], err = os.ReadFile(filepath.Join(r.Root, filepath.FromSlash(name))); err != nil {
			return nil, fmt.Errorf("files of module %s: %w", m.Dir, err)
		}
	}
	if text, err := os.ReadFile(filepath.Join(r.Root, licence)); err == nil {
		all[licence] = text
	}
	return only(all, m.Dir)
}

// Revision reads the files of a module as they were at a revision.
func Revision(ctx context.Context, r *repository.Repository, m repository.Module, revision string) (Files, error) {
	all, err := git.Dir(r.Root).Archive(ctx, revision, m.Dir, licence)
	if err != nil {
		return nil, fmt.Errorf("files of module %s at %s: %w", m.Dir, revision, err)
	}
	return only(all, m.Dir)
}

// only returns the files that belong to the module in the folder dir, by their paths in the module.
func only(all map[string][]byte, dir string) (Files, error) {
	prefix := dir + "/"
	if dir == "." {
		prefix = ""
	}
	var nested []string
	for name := range all {
		rest, inside := strings.CutPrefix(name, prefix)
		if folder := path.Dir(rest); inside && path.Base(rest) == "go.mod" && folder != "." {
			nested = append(nested, folder+"/")
		}
	}
	files := Files{}
	for name, text := range all {
		rest, inside := strings.CutPrefix(name, prefix)
		if inside && !slices.ContainsFunc(nested, func(folder string) bool { return strings.HasPrefix(rest, folder) }) {
			files[rest] = text
		}
	}
	if _, has := files["go.mod"]; !has {
		return nil, fmt.Errorf("module %s: it has no go.mod that git knows", dir)
	}
	if _, has := files[licence]; !has && all[licence] != nil {
		files[licence] = all[licence]
	}
	return files, nil
}

// Zip returns the archive of a version of the module as a module proxy serves it. The same files always give the same
// bytes.
func (f Files) Zip(version module.Version) ([]byte, error) {
	dir, err := os.MkdirTemp("", "release-zip-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // in the folder for temporary files
	if err := f.Write(dir); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := modzip.CreateFromDir(&out, version, dir); err != nil {
		return nil, fmt.Errorf("%s@%s: %w", version.Path, version.Version, err)
	}
	return out.Bytes(), nil
}

// Sums returns the checksums for go.sum: of an archive of the files, and of their go.mod.
func (f Files) Sums(archive []byte) (sum, modSum string, err error) {
	unpacked, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return "", "", err
	}
	var names []string
	for _, file := range unpacked.File {
		names = append(names, file.Name)
	}
	if sum, err = dirhash.Hash1(names, func(name string) (io.ReadCloser, error) { return unpacked.Open(name) }); err != nil {
		return "", "", err
	}
	modSum, err = dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(f["go.mod"])), nil })
	return sum, modSum, err
}

// Write creates a folder and writes the files below it.
func (f Files) Write(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	top, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer func() { _ = top.Close() }() // only a handle
	for name, text := range f {
		if err := top.MkdirAll(path.Dir(name), 0o755); err != nil {
			return err
		}
		if err := top.WriteFile(name, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
