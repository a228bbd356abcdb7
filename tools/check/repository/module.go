package repository

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// Prefix is the path that every module of the repository starts with.
const Prefix = "github.com/operkit/operkit"

// devcluster is the folder of the control plane, which links Kubernetes' servers. Everything that compiles it must use
// the same flags, otherwise all of Kubernetes is compiled a second time.
const devcluster = "tools/devcluster"

// apart are modules outside of the workspace. Their requirements (controller-runtime, linters, generators of manifests)
// would change the versions that the other modules are tested with.
var apart = []string{"tools/bench", "tools/lint", "tools/operkit"}

// ChangelogFile is the name of the file that makes a module a released module.
const ChangelogFile = "CHANGELOG.md"

// Module is one Go module of the repository.
type Module struct {
	// Dir is the folder below the root, with slashes, as in "tools/check"; "." is the root.
	Dir string
	// Path is the module path that go.mod states.
	Path string
	// Released reports whether the module is published with versions of its own, that is whether it has a changelog.
	Released bool
	// Companion is the path of a module that always has the same version as this module, or "". A comment
	// "//release:companion PATH" in this module's go.mod sets it. It is meant for a module that doesn't require its
	// companion in go.mod, but downloads the companion at run time, in the module's own version.
	Companion string
	// Requires are the requirements in go.mod, in their order.
	Requires []Requirement
}

// Requirement is a module that another module requires in its go.mod.
type Requirement struct {
	Path, Version string
	// Indirect reports whether go.mod marks it as indirect: no package of the module imports it.
	Indirect bool
}

// readModule reads the go.mod in a folder. It ignores lines that it doesn't know; the go command checks them.
func readModule(root, folder string) (Module, error) {
	dir, err := filepath.Rel(root, folder)
	if err != nil {
		return Module{}, err
	}
	m := Module{Dir: filepath.ToSlash(dir), Released: isFile(filepath.Join(folder, ChangelogFile))}
	name := path.Join(m.Dir, "go.mod")
	text, err := os.ReadFile(filepath.Join(folder, "go.mod"))
	if err != nil {
		return m, err
	}
	file, err := modfile.ParseLax(name, text, nil)
	if err != nil {
		return m, err
	}
	if file.Module == nil {
		return m, fmt.Errorf("%s: no module line", name)
	}
	m.Path = file.Module.Mod.Path
	for _, r := range file.Require {
		m.Requires = append(m.Requires, Requirement{r.Mod.Path, r.Mod.Version, r.Indirect})
	}
	for line := range strings.Lines(string(text)) {
		if companion, found := strings.CutPrefix(line, "//release:companion "); found {
			m.Companion = strings.TrimSpace(companion)
		}
	}
	return m, nil
}

// Tag returns the name of the git tag of a version.
func (m Module) Tag(version string) string {
	if m.Dir == "." {
		return version
	}
	return m.Dir + "/" + version
}

// InWorkspace reports whether go.work must hold the module. Modules of a workspace share the versions of all their
// requirements, so modules with heavy or foreign requirements stay outside and run with GOWORK=off.
func (m Module) InWorkspace() bool {
	return !m.IsControlPlane() && !slices.Contains(apart, m.Dir) && !strings.HasPrefix(m.Dir, "tools/peers/")
}

// Environ returns the environment for the go command in this module: base, in the form of os.Environ, with changes.
// base itself isn't changed.
func (m Module) Environ(base []string) []string {
	workspace := "off"
	if m.InWorkspace() {
		// With an empty GOWORK the go command looks for go.work in its folder and the parents. So a test that builds a
		// module in a temporary folder is outside of the workspace, as it is if a person runs go test.
		workspace = ""
	}
	env := Setenv(WithoutHook(base), "GOWORK", workspace)
	if m.IsControlPlane() {
		env = Setenv(env, "CGO_ENABLED", "0")
	}
	return env
}

// BuildFlags returns the flags that every build, test and vet of the module needs, with the race detector if race is
// true. For the control plane these are the compiler flags in its build.env, so that it is compiled only once. The
// tests of the control plane run its program, and never run under the race detector.
func (m Module) BuildFlags(race bool) []string {
	switch {
	case m.IsControlPlane():
		return []string{"-trimpath", "-gcflags=all=-dwarf=false"}
	case race:
		return []string{"-race"}
	}
	return nil
}

// ReadsRepository reports whether tests of the module may read or build files of other modules without importing them,
// as tests of the tools and examples do. The go command doesn't know that such tests depend on these files.
func (m Module) ReadsRepository() bool {
	return !m.IsControlPlane() && (m.Dir == "examples" || strings.HasPrefix(m.Dir, "tools/"))
}

// IsControlPlane reports whether the module is the control plane. Its tests run the program that is built from it.
func (m Module) IsControlPlane() bool { return m.Dir == devcluster }

// HasPackages reports whether the module in the repository at root holds any Go file. The go command refuses to test or
// to vet a module without a Go file.
func (m Module) HasPackages(root string) bool {
	files, _ := m.GoFiles(root) // if the module can't be read, the go command reports the error
	return len(files) > 0
}

// GoFiles lists the Go files of the module as absolute paths, without files of nested modules and of testdata folders.
func (m Module) GoFiles(root string) ([]string, error) {
	var files []string
	top := filepath.Join(root, filepath.FromSlash(m.Dir))
	err := filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !entry.IsDir() && strings.HasSuffix(path, ".go"):
			files = append(files, path)
		case !entry.IsDir() || path == top:
		case hidden(entry.Name()) || entry.Name() == "testdata" || isFile(filepath.Join(path, "go.mod")):
			return filepath.SkipDir
		}
		return nil
	})
	return files, err
}

// Setenv returns env with name set to value. env is not changed.
func Setenv(env []string, name, value string) []string {
	return append(Unsetenv(env, name), name+"="+value)
}

// Unsetenv returns env without the variables that have the given names. env is not changed.
func Unsetenv(env []string, names ...string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(names, name)
	})
}

// AddFlags returns env with flags appended to the variable GOFLAGS, from which the go command takes flags. env is not
// changed.
func AddFlags(env []string, flags ...string) []string {
	all := flags
	for _, entry := range env {
		if had, ok := strings.CutPrefix(entry, "GOFLAGS="); ok {
			all = append(strings.Fields(had), flags...)
		}
	}
	return Setenv(env, "GOFLAGS", strings.Join(all, " "))
}

// WithoutHook returns env without the variables that name the repository of a git hook. With them, git would use that
// repository in every folder. env is not changed.
func WithoutHook(env []string) []string {
	return Unsetenv(env, "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY")
}

// hidden reports whether the go command ignores a folder of this name.
func hidden(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")
}

func isFile(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

// Group is a group of packages that one go command can load.
type Group struct {
	// Subject names them in messages.
	Subject string
	// Folder is where the command runs, Environ its environment, and Patterns name the packages there.
	Folder            string
	Environ, Patterns []string
}

// Groups returns the packages of modules in the groups in which they are built and tested. The modules of the workspace
// are one group. Each other module is a group of its own, because its requirements may have other versions. Modules
// without a Go file are left out.
func (r *Repository) Groups(modules []Module) []Group {
	workspace := Group{Subject: "the workspace", Folder: r.Root, Environ: r.WorkspaceEnviron()}
	var groups []Group
	for _, m := range modules {
		switch {
		case !m.HasPackages(r.Root):
		case m.InWorkspace():
			workspace.Patterns = append(workspace.Patterns, "./"+m.Dir+"/...")
		default:
			groups = append(groups, Group{Subject: m.Dir, Folder: r.Folder(m), Environ: r.Environ(m), Patterns: []string{"./..."}})
		}
	}
	if len(workspace.Patterns) > 0 {
		groups = append([]Group{workspace}, groups...)
	}
	return groups
}
