package docs

import (
	"cmp"
	"context"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operkit/operkit/tools/check/process"
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

// at returns the position of a node, with which messages begin.
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

// listed is a package as go list -json prints it.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	ImportMap               map[string]string
}

// compiled are the packages and test packages that the go command has compiled, by their names in go list.
type compiled map[string]listed

// compile builds packages and their tests.
func (g group) compile(ctx context.Context, packages []string) (compiled, error) {
	args := slices.Concat([]string{"list", "-mod=readonly", "-e", "-deps", "-test", "-export", "-json=ImportPath,Dir,Export,GoFiles,ImportMap"}, g.flags)
	if g.race {
		args = append(args, "-race")
	}
	found, err := process.JSON[listed](ctx, process.Command(ctx, g.dir, g.env, "go", append(args, packages...)...))
	all := compiled{}
	for _, p := range found {
		all[p.ImportPath] = p
	}
	return all, err
}

// testPackage is the external test package of a package, with the types of all its expressions.
type testPackage struct {
	files []*ast.File
	info  *types.Info
	scope *types.Scope
	// tested is the package under test, nil if the test package doesn't import it.
	tested *types.Package
}

// test type-checks the external test package of the package with this path. It returns nil if there is none, and the
// first error if the package doesn't compile.
func (c compiled) test(path string) (*testPackage, error) {
	p, is := c[path+"_test ["+path+".test]"]
	if !is {
		return nil, nil
	}
	fileSet := token.NewFileSet()
	test := &testPackage{info: &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
	}}
	for _, name := range p.GoFiles {
		parsed, err := parser.ParseFile(fileSet, filepath.Join(p.Dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		test.files = append(test.files, parsed)
	}
	config := types.Config{Importer: importer.ForCompiler(fileSet, "gc", func(path string) (io.ReadCloser, error) {
		if other, is := p.ImportMap[path]; is {
			path = other
		}
		if c[path].Export == "" {
			return nil, fmt.Errorf("%s was not compiled", path)
		}
		return os.Open(c[path].Export)
	})}
	checked, err := config.Check(path+"_test", fileSet, test.files, test.info)
	if err != nil {
		return nil, err
	}
	test.scope = checked.Scope()
	if at := slices.IndexFunc(checked.Imports(), func(p *types.Package) bool { return p.Path() == path }); at >= 0 {
		test.tested = checked.Imports()[at]
	}
	return test, nil
}
