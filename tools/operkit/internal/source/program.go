package source

import "go/ast"

// IsProgram reports whether the file belongs to package main and isn't a test.
func (f *File) IsProgram() bool { return f.tree.Name.Name == "main" && !f.isTest() }

// Controls reports whether the file calls Control with the controller of the package that has this import path.
func (f *File) Controls(path string) bool { return f.Has(controller(path, "")) }

// Control adds a line such as op.Control(guestbook.Controller{}), and the import of the controller's package. pkg is
// the name of that package, and path is its import path.
func (f *File) Control(path, pkg string) ([]byte, error) { return f.Add(controller(path, pkg)) }

func controller(path, pkg string) Registration {
	return Registration{"Control", path, pkg, "Controller{}"}
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
