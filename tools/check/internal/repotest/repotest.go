package repotest

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/mod/module"

	"github.com/operkit/operkit/tools/check/repository"
)

// Files are the contents of files by their path, with slashes.
type Files map[string]string

// New writes a repository with the given modules and files, and a go.work with the modules that belong to the
// workspace. If files contains a go.mod, New writes it instead of the go.mod that the module would get.
func New(t testing.TB, modules []string, files Files) *repository.Repository {
	t.Helper()
	return NewWithLibraries(t, modules, files, nil)
}

// NewWithLibraries is New with modules from outside, which every module can import. The keys of libraries are the path
// of a module and, after a space, the folder of a package in it. The values are the imports of that package.
func NewWithLibraries(t testing.TB, modules []string, files Files, libraries map[string][]string) *repository.Repository {
	t.Helper()
	root, outside := t.TempDir(), t.TempDir()
	work := "go 1.26.0\n"
	var needs string
	known := map[string]bool{}
	for name, imports := range libraries {
		path, folder, _ := strings.Cut(name, " ")
		top := filepath.Join(outside, filepath.FromSlash(path))
		Write(t, top, Files{
			"go.mod":               "module " + path + "\n\ngo 1.26.0\n",
			folder + "/library.go": Package("library", imports...),
		})
		if !known[path] {
			known[path] = true
			work += fmt.Sprintf("use %q\n", top)
			needs += fmt.Sprintf("require %s %s\nreplace %s => %q\n", path, version(path), path, top)
		}
	}
	all := Files{}
	for _, dir := range modules {
		module := repository.Module{Dir: dir}
		mod := "module " + repository.Prefix + "/" + dir + "\n\ngo 1.26.0\n"
		if module.InWorkspace() {
			work += "use ./" + dir + "\n"
		} else {
			mod += needs
		}
		all[dir+"/go.mod"] = mod
	}
	all["go.work"] = work
	maps.Copy(all, files)
	Write(t, root, all)
	r, err := repository.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// version returns a version that is valid for a module with this path.
func version(path string) string {
	_, major, _ := module.SplitPathVersion(path)
	return cmp.Or(module.PathMajorPrefix(major), "v0") + ".0.0"
}

// WithTools returns files together with the files of this repository that configure its linters.
func WithTools(t testing.TB, files Files) Files {
	t.Helper()
	_, here, _, _ := runtime.Caller(0)
	root := filepath.Join(filepath.Dir(here), "..", "..", "..", "..")
	all := maps.Clone(files)
	for _, name := range []string{".golangci.yml", "tools/lint/go.mod", "tools/lint/go.sum", "tools/lint/README.md"} {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		all[name] = string(text)
	}
	return all
}

// Write writes files below a folder.
func Write(t testing.TB, folder string, files Files) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Package returns the text of a Go file that imports the given paths.
func Package(name string, imports ...string) string {
	var text strings.Builder
	fmt.Fprintf(&text, "package %s\n", name)
	for _, path := range imports {
		fmt.Fprintf(&text, "\nimport _ %q\n", path)
	}
	return text.String()
}

// Git makes the folder a git repository, without a commit.
func Git(t testing.TB, folder string) {
	t.Helper()
	cmd := exec.Command("git", "init", "--quiet", folder)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
}
