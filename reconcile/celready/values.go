package celready

import (
	"slices"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
)

// makesValues reports whether an expression makes lists, maps or texts that could be larger than its input: by a sum,
// or by using an element more than once. Only the values of such an expression are measured after each step, since
// measuring takes longer than the evaluation: for a list that a loop makes, the time of measuring grows with the square
// of the length. Results of map and filter that use only the elements can't grow.
func makesValues(tree *ast.AST) bool {
	harmless := ofElements(tree)
	found := false
	notConstant := func(e ast.Expr) bool { return e.Kind() != ast.LiteralKind }
	ast.PostOrderVisit(tree.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if harmless[e.ID()] {
			return
		}
		switch e.Kind() {
		case ast.CallKind:
			name := e.AsCall().FunctionName()
			found = found || name == operators.Add || name == mapInsert
		case ast.ListKind:
			found = found || slices.ContainsFunc(e.AsList().Elements(), notConstant)
		case ast.MapKind:
			found = found || slices.ContainsFunc(e.AsMap().Entries(), func(entry ast.EntryExpr) bool { return notConstant(entry.AsMapEntry().Value()) })
		case ast.StructKind:
			found = true
		}
	}))
	return found
}

// mapInsert is the function by which transformMap adds an entry to its map.
const mapInsert = "cel.@mapInsert"

// ofElements returns the parts by which map and filter build their lists: the sum of the list so far and a list of one
// element. It includes only loops that use nothing but their elements.
func ofElements(tree *ast.AST) map[int64]bool {
	parts := map[int64]bool{}
	ast.PostOrderVisit(tree.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.ComprehensionKind {
			return
		}
		loop := e.AsComprehension()
		sum := loop.LoopStep()
		if isCall(sum, operators.Conditional) { // filter adds an element only if its condition is true
			sum = sum.AsCall().Args()[1]
		}
		if !isCall(sum, operators.Add) || !isIdent(sum.AsCall().Args()[0], loop.AccuVar()) {
			return
		}
		one := sum.AsCall().Args()[1]
		if one.Kind() == ast.ListKind && !looksAtMore(one, loop) {
			parts[sum.ID()], parts[one.ID()] = true, true
		}
	}))
	return parts
}

// looksAtMore reports whether a part of a loop uses anything but the element.
func looksAtMore(part ast.Expr, loop ast.ComprehensionExpr) bool {
	more := false
	ast.PostOrderVisit(part, ast.NewExprVisitor(func(e ast.Expr) {
		more = more || e.Kind() == ast.IdentKind && !isIdent(e, loop.IterVar()) && !isIdent(e, loop.IterVar2())
	}))
	return more
}

func isCall(e ast.Expr, function string) bool {
	return e.Kind() == ast.CallKind && e.AsCall().FunctionName() == function
}

func isIdent(e ast.Expr, name string) bool { return e.Kind() == ast.IdentKind && e.AsIdent() == name }
