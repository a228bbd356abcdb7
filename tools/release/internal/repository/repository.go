package repository

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operkit/operkit/tools/release/internal/git"
)

// Repository is a working tree of git with its modules. It is read once, by [Open] or [At], and safe for concurrent use.
type Repository struct {
	// Root is the absolute path of the top folder.
	Root string
	// Modules are all modules, sorted by Dir.
	Modules []Module
}

// Open finds the repository that dir lies in and lists its modules.
func Open(dir string) (*Repository, error) {
	start, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	for at := start; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return At(at)
		}
		if at == filepath.Dir(at) {
			return nil, fmt.Errorf("%s: no git repository here or in a folder above; run this inside of one", start)
		}
	}
}

// At lists the modules of the repository whose top folder is root.
func At(root string) (*Repository, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	if _, err := os.Lstat(filepath.Join(root, ".git")); err != nil {
		return nil, fmt.Errorf("%s: it isn't the top folder of a git repository: %w", root, err)
	}
	r := &Repository{Root: root}
	if err := filepath.WalkDir(root, r.visit); err != nil {
		return nil, fmt.Errorf("modules of %s: %w", root, err)
	}
	slices.SortFunc(r.Modules, func(a, b Module) int { return strings.Compare(a.Dir, b.Dir) })
	paths := map[string]string{}
	for _, m := range r.Modules {
		if other, taken := paths[m.Path]; taken {
			return nil, fmt.Errorf("%s/go.mod: the module path %s is that of %s, too", m.Dir, m.Path, other)
		}
		paths[m.Path] = m.Dir
	}
	return r, nil
}

// visit reads a go.mod and leaves out the folders that the go command does.
func (r *Repository) visit(path string, entry fs.DirEntry, err error) error {
	name := entry.Name()
	switch {
	case err != nil:
		return err
	case entry.IsDir() && path != r.Root && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata"):
		return filepath.SkipDir
	case entry.IsDir() || name != "go.mod":
		return nil
	}
	m, err := readModule(r.Root, filepath.Dir(path))
	r.Modules = append(r.Modules, m)
	return err
}

// Git is the repository for questions that git answers.
func (r *Repository) Git() git.Dir { return git.Dir(r.Root) }

// Folder is the absolute path of the folder of a module.
func (r *Repository) Folder(m Module) string { return filepath.Join(r.Root, filepath.FromSlash(m.Dir)) }

// Module gives the module with a path.
func (r *Repository) Module(path string) (Module, bool) {
	at := slices.IndexFunc(r.Modules, func(m Module) bool { return m.Path == path })
	if at < 0 {
		return Module{}, false
	}
	return r.Modules[at], true
}

// Ours tells whether a path is that of a module of the repository.
func (r *Repository) Ours(path string) bool {
	_, found := r.Module(path)
	return found
}

// Siblings gives the modules of the repository that a module's go.mod requires, in the order of Modules.
func (r *Repository) Siblings(m Module) []Module {
	var siblings []Module
	for _, other := range r.Modules {
		if slices.Contains(m.Requires, other.Path) {
			siblings = append(siblings, other)
		}
	}
	return siblings
}

// Nested gives the folders of the modules that lie inside of a module's folder.
func (r *Repository) Nested(m Module) []string {
	var folders []string
	for _, other := range r.Modules {
		if other.Dir != m.Dir && (m.Dir == "." || strings.HasPrefix(other.Dir, m.Dir+"/")) {
			folders = append(folders, other.Dir)
		}
	}
	return folders
}

// Select gives the released modules of a comma-separated list of folders or module paths; all for the empty list.
func (r *Repository) Select(list string) ([]Module, error) {
	released, err := r.Released()
	if err != nil || list == "" {
		return released, err
	}
	var chosen []Module
	var problems []error
	for name := range strings.SplitSeq(list, ",") {
		dir := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(name), "./"), "/")
		at := slices.IndexFunc(released, func(m Module) bool { return m.Dir == dir || m.Path == dir })
		if at < 0 {
			problems = append(problems, fmt.Errorf("module %q: no released module has this name; there are %s", name, dirs(released)))
			continue
		}
		if !slices.ContainsFunc(chosen, func(m Module) bool { return m.Path == released[at].Path }) {
			chosen = append(chosen, released[at])
		}
	}
	return chosen, errors.Join(problems...)
}

func dirs(modules []Module) string {
	var names []string
	for _, m := range modules {
		names = append(names, m.Dir)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
