package docs

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operkit/operkit/tools/check/internal/repository"
)

// source is a package as its files have it.
type source struct {
	// dir is its folder below the root, name that of its package clause.
	dir, name string
	// files are those that are compiled on this system, sorted by name, tests those of its tests.
	files, tests []file
}

type file struct {
	name string // below the root
	*ast.File
}

// importable reports whether other modules can import the package.
func (s source) importable() bool {
	return s.name != "main" && !slices.Contains(strings.Split(s.dir, "/"), "internal")
}

// at gives the place of a node as messages begin with.
func at(files *token.FileSet, f file, pos token.Pos) string {
	return fmt.Sprintf("%s:%d", f.name, files.Position(pos).Line)
}

// parse reads the packages of a module, sorted by folder. A folder that holds nothing but tests is none.
func parse(r *repository.Repository, m repository.Module, files *token.FileSet) ([]source, error) {
	names, err := m.GoFiles(r.Root)
	if err != nil {
		return nil, err
	}
	byFolder := map[string]*source{}
	for _, name := range names {
		if compiled, err := build.Default.MatchFile(filepath.Dir(name), filepath.Base(name)); err != nil || !compiled {
			if err != nil {
				return nil, err
			}
			continue
		}
		parsed, err := parser.ParseFile(files, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		below, err := filepath.Rel(r.Root, name)
		if err != nil {
			return nil, err
		}
		s := byFolder[filepath.Dir(name)]
		if s == nil {
			s = &source{dir: filepath.ToSlash(filepath.Dir(below))}
			byFolder[filepath.Dir(name)] = s
		}
		s.add(file{name: filepath.ToSlash(below), File: parsed})
	}
	var sources []source
	for _, s := range byFolder {
		if len(s.files) > 0 {
			sources = append(sources, *s)
		}
	}
	slices.SortFunc(sources, func(a, b source) int { return cmp.Compare(a.dir, b.dir) })
	return sources, nil
}

func (s *source) add(f file) {
	if strings.HasSuffix(f.name, "_test.go") {
		s.tests = append(s.tests, f)
		return
	}
	s.name = f.Name.Name
	s.files = append(s.files, f)
}

// path is the import path of the package.
func (s source) path() string { return path.Join(repository.Prefix, s.dir) }

// receiver is the name of a method's type, without pointer and type parameters.
func receiver(expr ast.Expr) string {
	for {
		switch e := expr.(type) {
		case *ast.StarExpr:
			expr = e.X
		case *ast.IndexExpr:
			expr = e.X
		case *ast.IndexListExpr:
			expr = e.X
		case *ast.Ident:
			return e.Name
		default:
			return ""
		}
	}
}
