package git

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/operkit/operkit/tools/check/process"
	"github.com/operkit/operkit/tools/check/repository"
)

// Dir is the top folder of a working tree.
type Dir string

// run runs git and returns its output without the newline at the end.
func (d Dir) run(ctx context.Context, args ...string) (string, error) {
	return d.feed(ctx, "", nil, args...)
}

// lines runs git and returns the lines of its output.
func (d Dir) lines(ctx context.Context, args ...string) ([]string, error) {
	out, err := d.run(ctx, args...)
	if out == "" || err != nil {
		return nil, err
	}
	return strings.Split(out, "\n"), nil
}

// feed is run with standard input and additional environment variables.
func (d Dir) feed(ctx context.Context, stdin string, env []string, args ...string) (string, error) {
	// With GIT_OPTIONAL_LOCKS=0 git takes no locks for reading.
	env = append(append(repository.WithoutHook(os.Environ()), "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0"), env...)
	cmd := process.Command(ctx, string(d), env, "git", args...)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := process.Output(ctx, cmd)
	return strings.TrimSuffix(string(out), "\n"), err
}

// Branch returns the full name of the branch that HEAD points to, or "" if HEAD is detached.
func (d Dir) Branch(ctx context.Context) (string, error) {
	name, err := d.run(ctx, "rev-parse", "--symbolic-full-name", "HEAD")
	if name == "HEAD" {
		name = ""
	}
	return name, err
}

// Dirty lists the files that differ from HEAD in the working tree or the index, one line each.
func (d Dir) Dirty(ctx context.Context) ([]string, error) {
	return d.lines(ctx, "status", "--porcelain", "--untracked-files=all")
}

// Resolve returns the id of the commit that a revision names.
func (d Dir) Resolve(ctx context.Context, revision string) (string, error) {
	return d.run(ctx, "rev-parse", "--verify", "--quiet", revision+"^{commit}")
}

// Tags lists all tags.
func (d Dir) Tags(ctx context.Context) ([]string, error) {
	return d.lines(ctx, "for-each-ref", "--format=%(refname:strip=2)", "refs/tags/")
}

// Time returns the time of the commit of HEAD, or the beginning of 1970 if there is no commit.
func (d Dir) Time(ctx context.Context) (time.Time, error) {
	if _, err := d.Resolve(ctx, "HEAD"); err != nil {
		return time.Unix(0, 0).UTC(), ctx.Err()
	}
	out, err := d.run(ctx, "show", "--no-patch", "--format=%cI", "HEAD")
	if err != nil {
		return time.Time{}, err
	}
	at, err := time.Parse(time.RFC3339, out)
	return at.UTC(), err
}

// Subjects lists the subjects of the commits after a revision that change a folder, the newest first. Commits that
// change only folders among except are left out.
func (d Dir) Subjects(ctx context.Context, after, folder string, except []string) ([]string, error) {
	args := []string{"log", "--no-merges", "--format=%s", after + "..HEAD", "--", folder}
	for _, other := range except {
		args = append(args, ":(exclude,literal)"+other)
	}
	return d.lines(ctx, args...)
}

// Archive returns the regular files of a revision below folders, by their paths from the top. Without folders it
// returns all regular files. A folder that doesn't exist is no error.
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
	// The go command uses the same options, so the contents are the same as in a module that it fetches.
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
