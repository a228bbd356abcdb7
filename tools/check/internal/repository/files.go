package repository

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

// Fingerprint is a text that changes with the name, the content or the mode of any of the repository's files.
func (r *Repository) Fingerprint(ctx context.Context) (string, error) {
	files, err := r.Files(ctx)
	if err != nil {
		return "", err
	}
	slices.Sort(files)
	all := sha256.New()
	for _, name := range files {
		path := filepath.Join(r.Root, filepath.FromSlash(name))
		info, err := os.Stat(path)
		if err != nil {
			return "", err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		_, _ = fmt.Fprintf(all, "%q %o %x\n", name, info.Mode(), sha256.Sum256(text))
	}
	return hex.EncodeToString(all.Sum(nil)), nil
}

func output(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	return process.Output(ctx, process.Command(ctx, dir, nil, name, args...))
}
