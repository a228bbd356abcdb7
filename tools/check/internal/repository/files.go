package repository

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/operkit/operkit/tools/check/internal/process"
)

// Files lists the files of the repository, below the root and with slashes: those that git tracks and those that it
// would, which leaves out what .gitignore names. A tracked file that was deleted is left out too.
func (r *Repository) Files(ctx context.Context) ([]string, error) {
	out, err := output(ctx, r.Root, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate")
	if err != nil {
		return nil, err
	}
	var files []string
	for name := range strings.SplitSeq(string(out), "\x00") {
		if name != "" && isFile(filepath.Join(r.Root, filepath.FromSlash(name))) {
			files = append(files, name)
		}
	}
	return files, nil
}

// Fingerprint is a text that changes with the name, the content or the mode of any file below the root. It asks no git, so
// that a copy of the files will do; what git itself and programs of the repository keep (.git, .cache) doesn't count.
func (r *Repository) Fingerprint() (string, error) {
	all := sha256.New()
	err := filepath.WalkDir(r.Root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (path == r.Cache() || entry.Name() == ".git"):
			return filepath.SkipDir
		case !entry.Type().IsRegular():
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(all, "%q %o %x\n", path[len(r.Root):], info.Mode(), sha256.Sum256(text)) // a hash takes all
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("fingerprint of %s: %w", r.Root, err)
	}
	return hex.EncodeToString(all.Sum(nil)), nil
}

func output(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	return process.Output(ctx, process.Command(ctx, dir, nil, name, args...))
}
