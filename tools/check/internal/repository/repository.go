package repository

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Repository is a checkout of the repository. It is read once, by [Open], and safe for concurrent use.
type Repository struct {
	// Root is the absolute path of the folder that holds go.work.
	Root string
	// Modules are all modules, sorted by Dir.
	Modules []Module
}

// Open finds the repository that dir lies in, by the nearest go.work in dir or above it, and lists its modules.
func Open(dir string) (*Repository, error) {
	root, err := findRoot(dir)
	if err != nil {
		return nil, err
	}
	modules, err := findModules(root)
	if err != nil {
		return nil, fmt.Errorf("modules of %s: %w", root, err)
	}
	return &Repository{Root: root, Modules: modules}, nil
}

func findRoot(dir string) (string, error) {
	start, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for at := start; ; at = filepath.Dir(at) {
		if isFile(filepath.Join(at, "go.work")) {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("%s: no go.work here or in a folder above; run this inside the repository", start)
		}
	}
}

func findModules(root string) ([]Module, error) {
	var modules []Module
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && (hidden(entry.Name()) || entry.Name() == "testdata"):
			return filepath.SkipDir
		case entry.IsDir() || entry.Name() != "go.mod":
			return nil
		}
		module, err := readModule(root, path)
		modules = append(modules, module)
		return err
	})
	slices.SortFunc(modules, func(a, b Module) int { return strings.Compare(a.Dir, b.Dir) })
	return modules, err
}

func readModule(root, file string) (Module, error) {
	dir, err := filepath.Rel(root, filepath.Dir(file))
	if err != nil {
		return Module{}, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return Module{}, err
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) > 1 && fields[0] == "module" {
			return Module{Dir: filepath.ToSlash(dir), Path: strings.Trim(fields[1], `"`)}, nil
		}
	}
	return Module{}, fmt.Errorf("%s: no module line", file)
}

// Select gives the modules of a comma-separated list of folders ("dag,tools/check"), in the order of Modules. The empty
// list selects all of them.
func (r *Repository) Select(list string) ([]Module, error) {
	if list == "" {
		return r.Modules, nil
	}
	var chosen []Module
	for name := range strings.SplitSeq(list, ",") {
		dir := strings.Trim(strings.TrimPrefix(name, "./"), "/")
		at := slices.IndexFunc(r.Modules, func(m Module) bool { return m.Dir == dir || m.Path == dir })
		if at < 0 {
			return nil, fmt.Errorf("module %q: there is none of this name; there are %s", name, r.names())
		}
		chosen = append(chosen, r.Modules[at])
	}
	slices.SortFunc(chosen, func(a, b Module) int { return strings.Compare(a.Dir, b.Dir) })
	return slices.Compact(chosen), nil
}

func (r *Repository) names() string {
	dirs := make([]string, 0, len(r.Modules))
	for _, m := range r.Modules {
		dirs = append(dirs, m.Dir)
	}
	return strings.Join(dirs, ", ")
}

// Cache is the folder for what programs of the repository keep between two runs; git ignores it.
func (r *Repository) Cache() string { return filepath.Join(r.Root, ".cache") }

// Folder is the absolute path of the folder of a module.
func (r *Repository) Folder(m Module) string {
	return filepath.Join(r.Root, filepath.FromSlash(m.Dir))
}

// WorkspaceEnviron is the environment of this process as the go command needs it at the root, for the workspace.
func (r *Repository) WorkspaceEnviron() []string { return r.Environ(Module{}) }

// Environ is the environment of this process as the go command needs it in module m.
func (r *Repository) Environ(m Module) []string { return m.Environ(os.Environ()) }
