package status_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEverythingIsShown holds each exported function and method to having an
// example with an output, but for generated ones and those of interfaces.
func TestEverythingIsShown(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{".", "readiness"} {
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			code, tests := parse(t, folder)
			shown := map[string]bool{}
			for _, example := range doc.Examples(tests...) {
				assert.True(t, example.Output != "" || example.EmptyOutput, "Example%s has no output", example.Name)
				shown[example.Name] = true
			}
			for _, file := range code {
				for _, declaration := range file.Decls {
					function, ok := declaration.(*ast.FuncDecl)
					if !ok || !function.Name.IsExported() || strings.HasPrefix(function.Name.Name, "DeepCopy") {
						continue
					}
					if name := nameOf(function); ast.IsExported(name) {
						assert.True(t, shown[name], "Example%s is missing", name)
					}
				}
			}
			assert.Greater(t, len(shown), 10)
		})
	}
}

// nameOf is a function's name as examples have it, with the type before it.
func nameOf(function *ast.FuncDecl) string {
	if function.Recv == nil {
		return function.Name.Name
	}
	receiver := function.Recv.List[0].Type
	if pointer, ok := receiver.(*ast.StarExpr); ok {
		receiver = pointer.X
	}
	identifier, _ := receiver.(*ast.Ident)
	return identifier.Name + "_" + function.Name.Name
}

func parse(t *testing.T, folder string) (code, tests []*ast.File) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) != ".go" {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(folder, entry.Name()), nil, parser.ParseComments)
		require.NoError(t, err)
		if strings.HasSuffix(entry.Name(), "_test.go") {
			tests = append(tests, file)
		} else {
			code = append(code, file)
		}
	}
	return code, tests
}
