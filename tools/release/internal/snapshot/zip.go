package snapshot

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"
	modzip "golang.org/x/mod/zip"
)

// Zip gives the archive of a version of the module as a module proxy serves it. The same files give the same bytes.
func (f Files) Zip(version module.Version) ([]byte, error) {
	var list []modzip.File
	for _, name := range slices.Sorted(maps.Keys(f)) {
		list = append(list, entry{name, f[name]})
	}
	var out bytes.Buffer
	if err := modzip.Create(&out, version, list); err != nil {
		return nil, fmt.Errorf("%s@%s: %w", version.Path, version.Version, err)
	}
	return out.Bytes(), nil
}

// Sums gives the checksums of go.sum for an archive and for the go.mod in the files that it was made of.
func (f Files) Sums(archive []byte) (sum, modSum string, err error) {
	packed, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return "", "", err
	}
	contents := map[string]*zip.File{}
	for _, file := range packed.File {
		contents[file.Name] = file
	}
	sum, err = dirhash.Hash1(slices.Collect(maps.Keys(contents)), func(name string) (io.ReadCloser, error) { return contents[name].Open() })
	if err != nil {
		return "", "", err
	}
	modSum, err = dirhash.Hash1([]string{"go.mod"}, func(name string) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(f[name])), nil
	})
	return sum, modSum, err
}

// Write writes the files below a folder, which is made.
func (f Files) Write(folder string) error {
	top, err := makeRoot(folder)
	if err != nil {
		return err
	}
	defer func() { _ = top.Close() }() // only a handle
	for name, text := range f {
		if dir := path.Dir(name); dir != "." {
			if err := top.MkdirAll(dir, 0o755); err != nil {
				return err
			}
		}
		if err := top.WriteFile(name, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func makeRoot(folder string) (*os.Root, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	return os.OpenRoot(folder)
}

// entry is a file of an archive. It is its own fs.FileInfo.
type entry struct {
	name string
	text []byte
}

// Path implements modzip.File.
func (e entry) Path() string { return e.name }

// Lstat implements modzip.File.
func (e entry) Lstat() (os.FileInfo, error) { return e, nil }

// Open implements modzip.File.
func (e entry) Open() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(e.text)), nil }

// Name implements fs.FileInfo, as all below do.
func (e entry) Name() string { return e.name[strings.LastIndex(e.name, "/")+1:] }

// Size is the number of bytes.
func (e entry) Size() int64 { return int64(len(e.text)) }

// Mode is that of a regular file.
func (e entry) Mode() fs.FileMode { return 0o644 }

// ModTime is not known.
func (e entry) ModTime() time.Time { return time.Time{} }

// IsDir is false.
func (e entry) IsDir() bool { return false }

// Sys is nil.
func (e entry) Sys() any { return nil }
