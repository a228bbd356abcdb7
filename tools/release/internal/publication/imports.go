package publication

import (
	"bytes"
	"fmt"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/operkit/operkit/tools/release/internal/snapshot"
)

// imports are the imports between packages of a repository's modules. Imports from other repositories are left out.
type imports map[string]*packageImports // by import paths

// packageImports are the imports of one package.
type packageImports struct {
	module      string // its path
	plain, test []string
}

// read adds a module's packages. As in go mod tidy, files for other systems count, and files with the build tag ignore
// don't.
func (all imports) read(modulePath string, files snapshot.Files, ours func(importPath string) bool) error {
	mod, err := modfile.Parse("go.mod", files["go.mod"], nil)
	if err != nil {
		return fmt.Errorf("module %s: %w", modulePath, err)
	}
	tools := &packageImports{module: modulePath}
	all[path.Join(modulePath, "go.mod")] = tools // go.mod is treated like a package that imports the tools
	for _, tool := range mod.Tool {
		if ours(tool.Path) {
			tools.plain = append(tools.plain, tool.Path)
		}
	}
	set := token.NewFileSet()
	for name, text := range files {
		if !strings.HasSuffix(name, ".go") || hidden(name) || bytes.Contains(text, []byte("\n//go:build ignore\n")) ||
			bytes.HasPrefix(text, []byte("//go:build ignore\n")) {
			continue
		}
		file, err := parser.ParseFile(set, name, text, parser.ImportsOnly)
		if err != nil {
			return fmt.Errorf("module %s: %w", modulePath, err)
		}
		importPath := path.Join(modulePath, path.Dir(name))
		p := all[importPath]
		if p == nil {
			p = &packageImports{module: modulePath}
			all[importPath] = p
		}
		list := &p.plain
		if strings.HasSuffix(name, "_test.go") {
			list = &p.test
		}
		for _, spec := range file.Imports {
			if imported, err := strconv.Unquote(spec.Path.Value); err == nil && ours(imported) {
				*list = append(*list, imported)
			}
		}
	}
	return nil
}

// hidden reports whether the go command ignores a file of the module.
func hidden(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "/"), func(element string) bool {
		return element == "testdata" || strings.HasPrefix(element, ".") || strings.HasPrefix(element, "_")
	})
}

// siblings returns the modules whose packages go mod tidy reads for a module: the modules of all packages that the
// module's packages and tests import directly or indirectly, and of the packages that the tests of these packages
// import. These are more modules than the module's go.mod has to require.
func (all imports) siblings(modulePath string) map[string]bool {
	needed := map[string]bool{}
	var follow func(importPath string)
	follow = func(importPath string) {
		if p := all[importPath]; p != nil && !needed[importPath] {
			needed[importPath] = true
			for _, imported := range p.plain {
				follow(imported)
			}
		}
	}
	for importPath, p := range all {
		if p.module == modulePath {
			follow(importPath)
			for _, imported := range p.test {
				follow(imported)
			}
		}
	}
	var tested []string
	for importPath := range needed {
		tested = append(tested, all[importPath].test...)
	}
	for _, importPath := range tested {
		follow(importPath)
	}
	modules := map[string]bool{}
	for importPath := range needed {
		modules[all[importPath].module] = true
	}
	delete(modules, modulePath)
	return modules
}
