package docs

import (
	"cmp"
	"context"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/operkit/operkit/tools/check/repository"
)

// source is the source of a package.
type source struct {
	// dir is its folder below the root, name the name in its package clause.
	dir, name string
	// files are the files that are compiled on this system, sorted by name; tests are its test files.
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

// at returns the position of a node. Messages begin with it.
func at(files *token.FileSet, f file, pos token.Pos) string {
	return fmt.Sprintf("%s:%d", f.name, files.Position(pos).Line)
}

// parse reads the packages of a module, sorted by folder. A folder with nothing but tests isn't a package.
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

// path returns the import path of the package.
func (s source) path() string { return path.Join(repository.Prefix, s.dir) }

// receiver returns the name of a method's type, without pointer and type parameters.
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

// tests type-checks the external test packages of packages, and returns them by the path of the package under test. A
// package that doesn't compile has Errors.
func (g group) tests(ctx context.Context, paths []string) (map[string]*packages.Package, error) {
	config := packages.Config{
		Context: ctx, Dir: g.dir, Env: g.env, BuildFlags: g.flags, Tests: true,
		Mode: packages.NeedName | packages.NeedForTest | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo,
	}
	loaded, err := packages.Load(&config, paths...)
	tests := map[string]*packages.Package{}
	for _, p := range loaded {
		if p.PkgPath == p.ForTest+"_test" {
			tests[p.ForTest] = p
		}
	}
	return tests, err
}
