package source

import (
	"go/ast"

	"github.com/operkit/operkit/tools/operkit/internal/name"
)

// IsProgram reports whether the file belongs to package main and isn't a test.
func (f *File) IsProgram() bool { return f.tree.Name.Name == "main" && !f.isTest() }

// Controls reports whether the file calls Control with the controller of the package that has this import path.
func (f *File) Controls(path string) bool {
	local := f.imported(path)
	found := false
	ast.Inspect(f.tree, func(node ast.Node) bool {
		call, is := node.(*ast.CallExpr)
		if is && local != "" && methodOf(call) == "Control" && len(call.Args) > 0 {
			found = found || packageOf(call.Args[0]) == local
		}
		return !found
	})
	return found
}

// Control adds a line such as op.Control(guestbook.Controller{}), and the import of the controller's package. pkg is
// the name of that package, and path is its import path. The line comes after the last such line, or else before
// op.Main(). The error is ErrNoPlace if neither line exists, or if it isn't a statement on a line of its own.
func (f *File) Control(path, pkg string) ([]byte, error) {
	at, before := f.controlled()
	if at == nil {
		return nil, ErrNoPlace
	}
	indent, alone := f.indent(f.offset(at.Pos()))
	operator := receiverOf(callOf(at))
	if !alone || operator == "" {
		return nil, ErrNoPlace
	}
	local := f.imported(path)
	var added []insertion
	if local == "" {
		local = name.Import(pkg, f.uses)
		imports, found := f.addImport(local, path)
		if !found {
			return nil, ErrNoPlace
		}
		added = append(added, imports)
	}
	offset := f.lineEnd(f.offset(at.End()))
	if before {
		offset = f.lineStart(f.offset(at.Pos()))
	}
	line := indent + operator + ".Control(" + local + ".Controller{})\n"
	return f.insert(append(added, insertion{offset, line})...)
}

// controlled returns the last statement that adds a controller. If there is none, it returns the statement that runs
// the operator, and before is true.
func (f *File) controlled() (at ast.Stmt, before bool) {
	ast.Inspect(f.tree, func(node ast.Node) bool {
		statement, is := node.(*ast.ExprStmt)
		if !is {
			return true
		}
		switch call := callOf(statement); {
		case methodOf(call) == "Control" && len(call.Args) > 0:
			at, before = statement, false
		case at == nil && methodOf(call) == "Main" && len(call.Args) == 0:
			at, before = statement, true
		}
		return true
	})
	return at, before
}

// callOf returns the call if a statement is a call, and nil otherwise.
func callOf(statement ast.Stmt) *ast.CallExpr {
	if expression, is := statement.(*ast.ExprStmt); is {
		if call, is := expression.X.(*ast.CallExpr); is {
			return call
		}
	}
	return nil
}

// methodOf returns the name of the called method, such as Control for op.Control(...).
func methodOf(call *ast.CallExpr) string {
	if call == nil {
		return ""
	}
	if selector, is := call.Fun.(*ast.SelectorExpr); is {
		return selector.Sel.Name
	}
	return ""
}

// receiverOf returns the variable on which a method is called, such as op for op.Control(...).
func receiverOf(call *ast.CallExpr) string {
	if call == nil {
		return ""
	}
	if selector, is := call.Fun.(*ast.SelectorExpr); is {
		if variable, is := selector.X.(*ast.Ident); is {
			return variable.Name
		}
	}
	return ""
}

// packageOf returns the package name of a value such as guestbook.Controller{} or &guestbook.Controller{}.
func packageOf(value ast.Expr) string {
	if address, is := value.(*ast.UnaryExpr); is {
		value = address.X
	}
	if literal, is := value.(*ast.CompositeLit); is {
		value = literal.Type
	}
	if call, is := value.(*ast.CallExpr); is {
		value = call.Fun
	}
	if selector, is := value.(*ast.SelectorExpr); is {
		if pkg, is := selector.X.(*ast.Ident); is {
			return pkg.Name
		}
	}
	return ""
}
