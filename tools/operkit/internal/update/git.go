package update

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// mostConflicts is the largest number of conflicts that git merge-file reports by its exit code; larger codes are
// errors.
const mostConflicts = 127

// errBinary is returned for texts that git merge-file doesn't take for texts, because they have NUL bytes.
var errBinary = errors.New("isn't text")

// mergeFile merges the changes from base to next into ours, and reports whether there are conflicts, which are marked
// in the result.
func mergeFile(ctx context.Context, ours, base, next []byte, labels [2]string) (merged []byte, conflict bool, err error) {
	dir, err := os.MkdirTemp("", "operkit-update-")
	if err != nil {
		return nil, false, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	args := []string{"merge-file", "-p", "-L", "yours", "-L", labels[0], "-L", labels[1]}
	for i, text := range [][]byte{ours, base, next} {
		path := filepath.Join(dir, string(rune('a'+i)))
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return nil, false, err
		}
		args = append(args, path)
	}
	merged, err = git(ctx, dir, args...)
	if exit, failed := errors.AsType[*exec.ExitError](err); failed && exit.ExitCode() > 0 && exit.ExitCode() <= mostConflicts {
		return merged, true, nil
	}
	if err != nil && strings.Contains(err.Error(), "annot merge binary files") {
		return nil, false, errBinary
	}
	return merged, false, err
}

// ErrNoRepository is returned if a folder isn't in the work tree of a git repository.
var ErrNoRepository = errors.New("isn't in a git repository")

// Uncommitted returns the files below root that git has no commit of, or that differ from it. Ignored files don't
// count.
func Uncommitted(ctx context.Context, root string) ([]string, error) {
	if _, err := git(ctx, root, "rev-parse", "--show-toplevel"); err != nil {
		if strings.Contains(err.Error(), "not a git repository (or any") {
			return nil, ErrNoRepository
		}
		return nil, fmt.Errorf("%s: %w", root, err)
	}
	status, err := git(ctx, root, "status", "--porcelain", "--untracked-files=all", "--", ".")
	if err != nil {
		return nil, err
	}
	var files []string
	for line := range strings.Lines(string(status)) {
		files = append(files, strings.TrimSpace(line[min(len(line), len("XY ")):]))
	}
	return files, nil
}

// Tracked reports whether git has a file below root. In a folder that is ignored it has none, and none is uncommitted.
func Tracked(ctx context.Context, root, path string) (bool, error) {
	_, err := git(ctx, root, "ls-files", "--error-unmatch", "--", path)
	if exit, failed := errors.AsType[*exec.ExitError](err); failed && exit.ExitCode() == 1 {
		return false, nil
	}
	return err == nil, err
}

// git runs git in a folder, with English messages, and returns what it printed even if it fails.
func git(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return nil, errors.New("there is no git command in PATH: install git")
	case ctx.Err() != nil:
		return nil, fmt.Errorf("git %s: interrupted", args[0])
	case err != nil:
		err = fmt.Errorf("git %s: %w\n%s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return stdout.Bytes(), err
}
