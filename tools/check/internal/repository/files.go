package repository

import (
	"context"
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

func output(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	return process.Output(ctx, process.Command(ctx, dir, nil, name, args...))
}
