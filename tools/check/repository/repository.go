package repository

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operkit/operkit/tools/check/process"
)

// Repository is a checkout of the repository. It is read once, by [Open], and safe for concurrent use.
type Repository struct {
	// Root is the absolute path of the folder that holds go.work.
	Root string
	// Modules are all modules, sorted by Dir.
	Modules []Module
}

// Open finds the repository that contains dir, and lists its modules. The root is the nearest folder with a go.work or
// a .git: dir or a parent.
func Open(dir string) (*Repository, error) {
	start, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	for at := start; ; at = filepath.Dir(at) {
		for _, mark := range []string{"go.work", ".git"} {
			if _, err := os.Lstat(filepath.Join(at, mark)); err == nil {
				return At(at)
			}
		}
		if at == filepath.Dir(at) {
			return nil, fmt.Errorf("%s: no go.work and no .git here or in a folder above: run this inside of the repository", start)
		}
	}
}

// At lists the modules of the repository whose top folder is root.
func At(root string) (*Repository, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	r := &Repository{Root: root}
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && (hidden(entry.Name()) || entry.Name() == "testdata"):
			return filepath.SkipDir
		case entry.IsDir() || entry.Name() != "go.mod":
			return nil
		}
		module, err := readModule(root, filepath.Dir(path))
		r.Modules = append(r.Modules, module)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("modules of %s: %w", root, err)
	}
	slices.SortFunc(r.Modules, func(a, b Module) int { return strings.Compare(a.Dir, b.Dir) })
	return r, nil
}

// Select returns the modules that a comma-separated list of folders ("dag,tools/check") or module paths names, in the
// order of among. An empty list selects all modules of among.
func Select(among []Module, list string) ([]Module, error) {
	if list == "" {
		return among, nil
	}
	chosen := map[string]bool{}
	var problems []error
	for name := range strings.SplitSeq(list, ",") {
		dir := strings.Trim(strings.TrimPrefix(strings.TrimSpace(name), "./"), "/")
		at := slices.IndexFunc(among, func(m Module) bool { return m.Dir == dir || m.Path == dir })
		if at < 0 {
			var names []string
			for _, m := range among {
				names = append(names, m.Dir)
			}
			problems = append(problems, fmt.Errorf("module %q: there is no such module: use one of %s", name, strings.Join(names, ", ")))
			continue
		}
		chosen[among[at].Dir] = true
	}
	return slices.DeleteFunc(slices.Clone(among), func(m Module) bool { return !chosen[m.Dir] }), errors.Join(problems...)
}

// Cache returns the folder for files that programs of the repository keep between runs; git ignores it.
func (r *Repository) Cache() string { return filepath.Join(r.Root, ".cache") }

// Folder returns the absolute path of the folder of a module.
func (r *Repository) Folder(m Module) string {
	return filepath.Join(r.Root, filepath.FromSlash(m.Dir))
}

// WorkspaceEnviron returns the environment for the go command at the root, for the workspace. It is based on the
// environment of this process.
func (r *Repository) WorkspaceEnviron() []string { return r.Environ(Module{}) }

// Environ returns the environment for the go command in module m, based on the environment of this process.
func (r *Repository) Environ(m Module) []string { return m.Environ(os.Environ()) }

// Report is what a check of the repository has found.
type Report struct {
	// Problems has a text for each problem to fix; it is empty if all is well.
	Problems []string
	// Notes are texts that a reader should know about, but that aren't problems.
	Notes []string
	// Summary describes in a few words what was checked; it may be empty.
	Summary string
}

// Options are the flags of a check.
type Options struct {
	// Write fixes the problems that can be fixed, instead of reporting them.
	Write bool
	// Verbose prints figures, too.
	Verbose bool
}

// Files lists the regular files of the repository whose names end with the suffix, below the root and with slashes;
// with folders, only the files below these. Tracked and untracked files are listed; ignored and deleted files aren't.
func (r *Repository) Files(ctx context.Context, suffix string, folders ...string) ([]string, error) {
	args := append([]string{"ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate", "--"}, folders...)
	out, err := process.Output(ctx, process.Command(ctx, r.Root, WithoutHook(os.Environ()), "git", args...))
	if err != nil {
		return nil, err
	}
	var files []string
	for name := range strings.SplitSeq(string(out), "\x00") {
		if name != "" && strings.HasSuffix(name, suffix) && isFile(filepath.Join(r.Root, filepath.FromSlash(name))) {
			files = append(files, name)
		}
	}
	return files, nil
}

// Fingerprint returns a text that changes with the name, the content or the mode of any file below the root. It doesn't
// need git, so that it works in a copy of the files. The folders .git and .cache don't count.
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
		_, _ = fmt.Fprintf(all, "%q %o %x\n", path[len(r.Root):], info.Mode(), sha256.Sum256(text)) // a hash never returns an error
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("fingerprint of %s: %w", r.Root, err)
	}
	return hex.EncodeToString(all.Sum(nil)), nil
}
