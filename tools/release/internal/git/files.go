package git

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Files lists the files below a folder, from the top and with slashes: those that git tracks and those that it would,
// which leaves out what is ignored and what was deleted.
func (d Dir) Files(ctx context.Context, folder string) ([]string, error) {
	out, err := d.run(ctx, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate", "--", folder)
	if err != nil {
		return nil, err
	}
	var files []string
	for name := range strings.SplitSeq(out, "\x00") {
		if name == "" {
			continue
		}
		info, err := os.Lstat(filepath.Join(string(d), filepath.FromSlash(name)))
		if err == nil && info.Mode().IsRegular() {
			files = append(files, name)
		}
	}
	return files, nil
}

// Archive reads all regular files that a revision has below folders, or all that it has, by their paths from the top. It is no error that
// a folder isn't there.
func (d Dir) Archive(ctx context.Context, revision string, folders ...string) (map[string][]byte, error) {
	there, err := d.run(ctx, append([]string{"ls-tree", "-z", "--name-only", revision, "--"}, folders...)...)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	if there == "" {
		return files, nil
	}
	names := strings.Split(strings.TrimSuffix(there, "\x00"), "\x00")
	// As the go command asks for it, so that the bytes are the same.
	args := []string{"-c", "core.autocrlf=input", "-c", "core.eol=lf", "archive", "--format=tar", revision, "--"}
	text, err := d.run(ctx, append(args, names...)...)
	if err != nil {
		return nil, err
	}
	archive := tar.NewReader(strings.NewReader(text))
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, fmt.Errorf("git archive %s: %w", revision, err)
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		if files[header.Name], err = io.ReadAll(archive); err != nil {
			return nil, fmt.Errorf("git archive %s: %s: %w", revision, header.Name, err)
		}
	}
}
