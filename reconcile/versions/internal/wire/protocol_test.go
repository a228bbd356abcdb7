package wire

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every name that goes over the wire is in PROTOCOL.md, for those who write another side.
func TestProtocolHasAllNames(t *testing.T) {
	t.Parallel()
	contract, err := os.ReadFile("../../PROTOCOL.md")
	require.NoError(t, err)
	source, err := parser.ParseFile(token.NewFileSet(), "methods.go", nil, 0)
	require.NoError(t, err)
	hooks := map[string]bool{Finalize: true, AfterDeploy: true, AfterVerify: true, AfterIncomplete: true, Exhausted: true, Requeue: true}
	count := 0
	ast.Inspect(source, func(node ast.Node) bool {
		decl, declares := node.(*ast.GenDecl)
		if _, isFunc := node.(*ast.FuncDecl); isFunc || declares && decl.Tok != token.CONST {
			return false
		}
		text, ok := node.(*ast.BasicLit)
		if !ok || text.Kind != token.STRING {
			return true
		}
		name, err := strconv.Unquote(text.Value)
		require.NoError(t, err)
		count++
		if !hooks[name] {
			assert.Contains(t, string(contract), "`"+name+"`")
		}
		return true
	})
	assert.Greater(t, count, 20)
	for _, row := range types {
		assert.Contains(t, string(contract), "`"+row.name+"`")
	}
}
