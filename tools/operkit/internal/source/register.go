package source

import (
	"go/ast"
	"slices"
	"strconv"

	"github.com/operkit/operkit/tools/operkit/internal/name"
)

// registering are the methods by which an operator gets what it consists of.
var registering = []string{"Control", "Convert", "Admit", "Enforce"}

// Registration is a call such as op.Control(guestbook.Controller{}).
type Registration struct {
	// Method is the called method.
	Method string
	// Path is the import path of the package of the argument, and Package its name.
	Path, Package string
	// Value is the argument without its package, such as Controller{}.
	Value string
}

// Has reports whether the file calls the method with an argument from that package.
func (f *File) Has(r Registration) bool {
	local := f.imported(r.Path)
	found := false
	ast.Inspect(f.tree, func(node ast.Node) bool {
		call, is := node.(*ast.CallExpr)
		if is && local != "" && methodOf(call) == r.Method && len(call.Args) > 0 {
			found = found || packageOf(call.Args[0]) == local
		}
		return !found
	})
	return found
}

// Add adds the call, and the import of its package. The line comes after the last call of the same method; if there is
// none, after the last call that adds something else to the operator; or else before op.Main(). The error is ErrNoPlace
// if there is no such line, or if it isn't a statement on a line of its own.
func (f *File) Add(r Registration) ([]byte, error) {
	at, before := f.registered(r.Method)
	if at == nil {
		return nil, ErrNoPlace
	}
	indent, alone := f.indent(f.offset(at.Pos()))
	operator := receiverOf(callOf(at))
	if !alone || operator == "" {
		return nil, ErrNoPlace
	}
	local := f.imported(r.Path)
	var added []insertion
	if local == "" {
		local = name.Import(r.Package, f.uses)
		imports, found := f.addImport(local, r.Path)
		if !found {
			return nil, ErrNoPlace
		}
		added = append(added, imports)
	}
	offset := f.lineEnd(f.offset(at.End()))
	if before {
		offset = f.lineStart(f.offset(at.Pos()))
	}
	line := indent + operator + "." + r.Method + "(" + local + "." + r.Value + ")\n"
	return f.insert(append(added, insertion{offset, line})...)
}

// registered returns the statement after which a call of a method is added. If there is none, it returns the statement
// that runs the operator, and before is true.
func (f *File) registered(method string) (at ast.Stmt, before bool) {
	var same, other, run ast.Stmt
	ast.Inspect(f.tree, func(node ast.Node) bool {
		statement, is := node.(*ast.ExprStmt)
		if !is {
			return true
		}
		call := callOf(statement)
		switch called := methodOf(call); {
		case called == method && len(call.Args) > 0:
			same = statement
		case slices.Contains(registering, called) && len(call.Args) > 0:
			other = statement
		case run == nil && called == "Main" && len(call.Args) == 0:
			run = statement
		}
		return true
	})
	switch {
	case same != nil:
		return same, false
	case other != nil:
		return other, false
	}
	return run, run != nil
}

// Operator returns the name that the file gives to the operator that it runs, such as x for op := full.New("x"), or ""
// if that isn't a text in the file.
func (f *File) Operator() string {
	found := ""
	ast.Inspect(f.tree, func(node ast.Node) bool {
		call, is := node.(*ast.CallExpr)
		if !is || methodOf(call) != "New" || len(call.Args) == 0 || f.pathOf(receiverOf(call)) == "" {
			return true
		}
		text, is := call.Args[0].(*ast.BasicLit)
		if !is || found != "" {
			return true
		}
		if value, err := strconv.Unquote(text.Value); err == nil {
			found = value
		}
		return true
	})
	return found
}

// operators are the packages with a function New for operators.
var operators = []string{"github.com/operkit/operkit/operator/full", "github.com/operkit/operkit/operator"}

// pathOf returns the path of one of the operators' packages that is imported under a name, or "".
func (f *File) pathOf(local string) string {
	for _, path := range operators {
		if local != "" && f.imported(path) == local {
			return path
		}
	}
	return ""
}
