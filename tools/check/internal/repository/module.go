package repository

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Prefix is the path that every module of the repository starts with.
const Prefix = "github.com/operkit/operkit"

// devcluster links Kubernetes' servers. It is built with flags of its own, and everything that compiles it must use
// the same ones, or the whole of Kubernetes is compiled a second time.
const devcluster = "tools/devcluster"

// apart are modules whose requirements would change what the others are tested with: controller-runtime, linters, and what
// generates a new operator's manifests.
var apart = []string{"tools/bench", "tools/lint", "tools/operkit"}

// Module is one Go module of the repository.
type Module struct {
	// Dir is the folder below the root, with slashes, as in "tools/check".
	Dir string
	// Path is the module path that go.mod states.
	Path string
}

// InWorkspace reports whether go.work must hold the module. The requirements of a module of the workspace reach all
// others, so those with heavy or foreign requirements stay outside and run with GOWORK=off.
func (m Module) InWorkspace() bool {
	return !m.IsControlPlane() && !slices.Contains(apart, m.Dir) && !strings.HasPrefix(m.Dir, "tools/peers/")
}

// Environ gives base, an environment as os.Environ returns it, as the go command needs it in this module.
// base is not changed.
func (m Module) Environ(base []string) []string {
	workspace := "off"
	if m.InWorkspace() {
		// Empty: found from the folder that a command runs in. A test that builds something in a
		// folder of its own is outside then, as it is when the test runs without us.
		workspace = ""
	}
	env := Setenv(withoutHook(base), "GOWORK", workspace)
	if m.IsControlPlane() {
		env = Setenv(env, "CGO_ENABLED", "0")
	}
	return env
}

// BuildFlags are the flags that every build, test and vet of the module needs. The control plane's are those of its
// build.env that matter to the compiler, so that it is compiled once.
func (m Module) BuildFlags() []string {
	if m.IsControlPlane() {
		return []string{"-trimpath", "-gcflags=all=-dwarf=false"}
	}
	return nil
}

// ReadsRepository reports whether tests of the module may read or build what lies in other modules without importing
// it, as those of the tools and of the examples do. The go command doesn't see that such tests depend on it.
func (m Module) ReadsRepository() bool {
	return !m.IsControlPlane() && (m.Dir == "examples" || strings.HasPrefix(m.Dir, "tools/"))
}

// Race reports whether the tests of the module may run under the race detector.
func (m Module) Race() bool { return !m.IsControlPlane() }

// IsControlPlane reports whether the module is the control plane, whose tests drive the program that is built of it.
func (m Module) IsControlPlane() bool { return m.Dir == devcluster }

// HasPackages reports whether the module in the repository at root holds any Go file. The go command refuses to test or
// to vet a module without one.
func (m Module) HasPackages(root string) bool {
	found := false
	_ = m.walk(root, func(string) error {
		found = true
		return filepath.SkipAll
	})
	return found
}

// GoFiles lists the Go files of the module as absolute paths, without those of nested modules and of testdata folders.
func (m Module) GoFiles(root string) ([]string, error) {
	var files []string
	err := m.walk(root, func(file string) error {
		files = append(files, file)
		return nil
	})
	return files, err
}

func (m Module) walk(root string, visit func(file string) error) error {
	top := filepath.Join(root, filepath.FromSlash(m.Dir))
	return filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !entry.IsDir() && strings.HasSuffix(path, ".go"):
			return visit(path)
		case !entry.IsDir() || path == top:
			return nil
		case hidden(entry.Name()) || entry.Name() == "testdata" || isFile(filepath.Join(path, "go.mod")):
			return filepath.SkipDir
		}
		return nil
	})
}

// Setenv gives env with name set to value. env is not changed.
func Setenv(env []string, name, value string) []string {
	kept := slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		return strings.HasPrefix(entry, name+"=")
	})
	return append(kept, name+"="+value)
}

// AddFlags gives env with flags added to those that the go command takes from GOFLAGS. env is not changed.
func AddFlags(env []string, flags ...string) []string {
	all := flags
	for _, entry := range env {
		if had, ok := strings.CutPrefix(entry, "GOFLAGS="); ok {
			all = append(strings.Fields(had), flags...)
		}
	}
	return Setenv(env, "GOFLAGS", strings.Join(all, " "))
}

// ofHook are the variables by which git tells a hook which repository it is called for.
var ofHook = []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY"}

// withoutHook takes these out of an environment: tests that make repositories would commit to that of whoever runs them.
func withoutHook(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(ofHook, name)
	})
}

// hidden reports whether the go command ignores a folder of this name.
func hidden(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
