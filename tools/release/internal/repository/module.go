package repository

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// ChangelogName is the file in a module's folder that makes it a released one.
const ChangelogName = "CHANGELOG.md"

// companionMark begins the line of a go.mod that names a companion.
const companionMark = "//release:companion "

// Module is one of a repository.
type Module struct {
	// Dir is its folder, below the root and with slashes; "." is the root.
	Dir string
	// Path is its module path.
	Path string
	// Released tells whether it is published with versions of its own.
	Released bool
	// Companion is the path of the module that always has the same version as this one, "" for none. A comment
	// "//release:companion PATH" in the go.mod of one of the two says so: for what a program asks for by its own version
	// and doesn't require.
	Companion string
	// Requires are the module paths that its go.mod requires, for tests too and indirectly too, sorted.
	Requires []string
}

// Tag is the name of the git tag of a version.
func (m Module) Tag(version string) string {
	if m.Dir == "." {
		return version
	}
	return m.Dir + "/" + version
}

func readModule(root, folder string) (Module, error) {
	dir, err := filepath.Rel(root, folder)
	if err != nil {
		return Module{}, err
	}
	m := Module{Dir: filepath.ToSlash(dir)}
	name := path.Join(m.Dir, "go.mod")
	text, err := os.ReadFile(filepath.Join(folder, "go.mod"))
	if err != nil {
		return m, err
	}
	file, err := modfile.Parse(name, text, nil)
	if err != nil {
		return m, err
	}
	if file.Module == nil {
		return m, fmt.Errorf("%s: no module line", name)
	}
	m.Path = file.Module.Mod.Path
	for _, require := range file.Require {
		m.Requires = append(m.Requires, require.Mod.Path)
	}
	slices.Sort(m.Requires)
	for line := range strings.Lines(string(text)) {
		if companion, found := strings.CutPrefix(line, companionMark); found {
			m.Companion = strings.TrimSpace(companion)
		}
	}
	info, err := os.Stat(filepath.Join(folder, ChangelogName))
	m.Released = err == nil && info.Mode().IsRegular()
	return m, m.checkPath(name)
}

// checkPath makes sure that a tag with the folder's name is a version of the module.
func (m Module) checkPath(name string) error {
	base, _, ok := module.SplitPathVersion(m.Path)
	if !ok || m.Released && m.Dir != "." && base != m.Dir && !strings.HasSuffix(base, "/"+m.Dir) {
		return fmt.Errorf("%s: the module path is %s, which doesn't end with the name of its folder %s, as its tags need", name, m.Path, m.Dir)
	}
	return nil
}
