package celready

import (
	"fmt"
	"slices"
	"strings"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/parser"
)

// part is a piece of an expression.
type part struct {
	// text is the source of the piece, on one line. position is the line and column of the piece.
	text, position string
	// lookUp: the piece is a field, a key or an element of a value. If such a piece has no value, the reason is always
	// that it is missing.
	lookUp bool
	// fields is the path of the piece from the object, or all fields of the expression if the piece isn't a field of
	// the object.
	fields []string
}

// part returns the piece with that id. If the id is unknown, the piece has no text.
func (e *expression) part(id int64) part {
	found := part{fields: e.fields}
	ast.PostOrderVisit(e.tree.Expr(), ast.NewExprVisitor(func(piece ast.Expr) {
		if piece.ID() != id {
			return
		}
		location := e.tree.SourceInfo().GetStartLocation(id)
		found.position = fmt.Sprintf("%d:%d", location.Line(), location.Column()+1)
		found.lookUp = isLookUp(piece)
		if path, ok := pathOf(piece); ok {
			found.fields = []string{path}
		}
		if found.lookUp && piece.Kind() == ast.SelectKind && piece.AsSelect().IsTestOnly() {
			// The field that has() tests may be missing. So the missing part is the value that should have that field.
			piece = piece.AsSelect().Operand()
		}
		if text, err := parser.Unparse(piece, e.tree.SourceInfo()); err == nil {
			found.text = oneLine(text)
		}
	}))
	return found
}

func isLookUp(piece ast.Expr) bool {
	switch piece.Kind() {
	case ast.SelectKind:
		return true
	case ast.CallKind:
		switch piece.AsCall().FunctionName() {
		case operators.Index, operators.OptIndex, operators.OptSelect:
			return true
		}
	}
	return false
}

// fieldsOf returns the fields of the object that an expression names, without prefixes of other fields.
func fieldsOf(tree *ast.AST) []string {
	var fields []string
	ast.PreOrderVisit(ast.NavigateAST(tree), ast.NewExprVisitor(func(piece ast.Expr) {
		path, ok := pathOf(piece)
		if !ok || path == "" {
			return
		}
		if parent, has := piece.(ast.NavigableExpr).Parent(); has {
			if _, further := pathOf(parent); further {
				return
			}
		}
		if !slices.Contains(fields, path) {
			fields = append(fields, path)
		}
	}))
	return fields
}

// pathOf returns the path of a piece that is a field of the object: status.phase for object.status.phase and for
// object.?status.?phase. The path of the object itself is empty.
func pathOf(piece ast.Expr) (string, bool) {
	var of ast.Expr
	var field string
	switch piece.Kind() {
	case ast.IdentKind:
		return "", piece.AsIdent() == variable
	case ast.SelectKind:
		of, field = piece.AsSelect().Operand(), piece.AsSelect().FieldName()
	case ast.CallKind:
		call := piece.AsCall()
		if call.FunctionName() != operators.OptSelect {
			return "", false
		}
		name, ok := call.Args()[1].AsLiteral().Value().(string)
		if !ok {
			return "", false
		}
		of, field = call.Args()[0], name
	default:
		return "", false
	}
	path, ok := pathOf(of)
	if !ok {
		return "", false
	}
	return strings.TrimPrefix(path+"."+field, "."), true
}

// maxShown bounds the length of the part of an expression that is shown.
const maxShown = 160

// oneLine returns a text without line ends, shortened.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > maxShown {
		return string(runes[:maxShown]) + "..."
	}
	return text
}
