package hygiene

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/operkit/operkit/tools/check/process"
	"github.com/operkit/operkit/tools/check/repository"
)

// marker is a line that registers a generator.
var marker = regexp.MustCompile(`(?m)^//go:generate `)

// Generators lists the modules that have a Go file with a line //go:generate.
func Generators(r *repository.Repository) ([]repository.Module, error) {
	var found []repository.Module
	for _, m := range r.Modules {
		files, err := m.GoFiles(r.Root)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			if marker.Match(text) {
				found = append(found, m)
				break
			}
		}
	}
	return found, nil
}

// Generate runs every generator of the repository and prints the current module and the output of the generators to
// out. Generators are compiled with the same flags as operators for images, so that packages of both are compiled once.
func Generate(ctx context.Context, r *repository.Repository, out io.Writer) error {
	modules, err := Generators(r)
	if err != nil {
		return err
	}
	for _, m := range modules {
		_, _ = fmt.Fprintf(out, "generate %s\n", m.Dir)
		env := repository.Setenv(repository.AddFlags(r.Environ(m), "-trimpath"), "CGO_ENABLED", "0")
		cmd := process.Command(ctx, r.Folder(m), env, "go", "generate", "./...")
		if said, err := process.Combined(ctx, cmd, out); err != nil {
			return fmt.Errorf("%s: %w\n%s", m.Dir, err, said)
		}
	}
	return nil
}

// Generated runs every generator and returns a diff of each file that a generator changed. It compares the contents
// before and after, so it works with uncommitted changes. The new contents stay.
func Generated(ctx context.Context, r *repository.Repository, _ repository.Options) (report repository.Report, err error) {
	modules, err := Generators(r)
	if err != nil || len(modules) == 0 {
		return report, err
	}
	store, err := newStore(ctx, r)
	if err != nil {
		return report, err
	}
	defer store.remove()
	before, written, err := store.keep(ctx, r)
	if err != nil {
		return report, err
	}
	if err := Generate(ctx, r, io.Discard); err != nil {
		if ctx.Err() == nil {
			report.Problems = []string{err.Error()}
			err = nil
		}
		return report, err
	}
	after, again, err := store.keep(ctx, r)
	if err != nil {
		return report, err
	}
	names, err := store.git(ctx, r, "diff", "--name-only", "--no-renames", "-z", before, after)
	changed := strings.FieldsFunc(names, func(c rune) bool { return c == 0 })
	for _, name := range changed {
		difference, err := store.git(ctx, r, "diff", "--no-color", "--no-ext-diff", before, after, "--", name)
		if err != nil {
			return report, err
		}
		if hunk := strings.Index(difference, "@@"); hunk >= 0 {
			difference = difference[hunk:]
		}
		report.Problems = append(report.Problems, name+": a generator changes it: commit what it makes\n"+strings.TrimRight(difference, "\n"))
	}
	// Restore the modification times: the go command doesn't use the cached result of a test if a file that the test
	// read has another time.
	for name, was := range written {
		if now := again[name]; !now.IsZero() && !now.Equal(was) && !slices.Contains(changed, name) {
			err = errors.Join(err, os.Chtimes(filepath.Join(r.Root, filepath.FromSlash(name)), time.Time{}, was))
		}
	}
	return report, err
}

// store keeps the files of a repository as git does, in a temporary folder.
type store struct {
	dir string
	env []string
}

func newStore(ctx context.Context, r *repository.Repository) (store, error) {
	objects, err := process.Output(ctx, process.Command(ctx, r.Root, nil, "git", "rev-parse", "--path-format=absolute", "--git-path", "objects"))
	if err != nil {
		return store{}, err
	}
	dir, err := os.MkdirTemp("", "operkit-generated-")
	return store{dir, append(os.Environ(), "GIT_INDEX_FILE="+filepath.Join(dir, "index"), "GIT_OBJECT_DIRECTORY="+dir,
		"GIT_ALTERNATE_OBJECT_DIRECTORIES="+strings.TrimSpace(string(objects)))}, err
}

func (s store) remove() { _ = os.RemoveAll(s.dir) } // if that fails, a small folder stays

func (s store) git(ctx context.Context, r *repository.Repository, words ...string) (string, error) {
	out, err := process.Output(ctx, process.Command(ctx, r.Root, s.env, "git", words...))
	return string(out), err
}

// keep stores the present files as a git tree, and returns the name of the tree and the modification time of each file.
func (s store) keep(ctx context.Context, r *repository.Repository) (tree string, written map[string]time.Time, err error) {
	files, err := r.Files(ctx, "")
	if err != nil {
		return "", nil, err
	}
	written = map[string]time.Time{}
	for _, name := range files {
		info, err := os.Stat(filepath.Join(r.Root, filepath.FromSlash(name)))
		if err != nil {
			return "", nil, err
		}
		written[name] = info.ModTime()
	}
	if _, err := s.git(ctx, r, "add", "--all"); err != nil {
		return "", nil, err
	}
	tree, err = s.git(ctx, r, "write-tree")
	return strings.TrimSpace(tree), written, err
}
