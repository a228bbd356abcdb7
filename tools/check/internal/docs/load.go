package docs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/operkit/operkit/tools/check/internal/process"
)

// listed is a package as go list -json prints it.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	ImportMap               map[string]string
}

// compiled is what the go command has compiled: packages and their test packages, by the names that go list gives them.
type compiled map[string]listed

// compile builds packages and their tests.
func (g group) compile(ctx context.Context, packages []string) (compiled, error) {
	args := slices.Concat([]string{"list", "-mod=readonly", "-e", "-deps", "-test", "-export", "-json=ImportPath,Dir,Export,GoFiles,ImportMap"}, g.flags)
	if g.race {
		args = append(args, "-race")
	}
	out, err := process.Output(ctx, process.Command(ctx, g.dir, g.env, "go", append(args, packages...)...))
	if err != nil {
		return nil, err
	}
	all := compiled{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		all[p.ImportPath] = p
	}
}

// testPackage is the external test package of a package, with the types of all its expressions.
type testPackage struct {
	files []*ast.File
	info  *types.Info
	scope *types.Scope
	// tested is the package that it tests, nil when it does not import it.
	tested *types.Package
}

// test checks the types of the external test package of the package with this path; nil when there is none. The first
// error of one that does not compile is returned.
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
