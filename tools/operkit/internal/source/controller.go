package source

import (
	"fmt"
	"go/ast"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// reconcilePath is the import path of the package with the type Session.
const reconcilePath = "github.com/operkit/operkit/reconcile"

// Controller is a type with a method Setup(context.Context, *reconcile.Session).
type Controller struct {
	// Type is the name of that type.
	Type string
	// Folder is the package that it belongs to, File the file with its method Setup.
	Folder Folder
	File   *File
	setup  *ast.FuncDecl
}

// Controllers returns the controllers in all folders, in their order.
func Controllers(folders []Folder) (found []Controller) {
	for _, folder := range folders {
		for _, file := range folder.Files {
			if file.isTest() {
				continue
			}
			for _, decl := range file.tree.Decls {
				if setup, is := decl.(*ast.FuncDecl); is && file.isSetup(setup) {
					found = append(found, Controller{typeOf(setup.Recv), folder, file, setup})
				}
			}
		}
	}
	return found
}

// For reports whether the controller's type or package is named like a kind.
func (c Controller) For(kind string) bool {
	return strings.EqualFold(c.Type, kind) || strings.EqualFold(c.Folder.Name(), kind) || strings.EqualFold(c.Folder.Name(), kind+"controller")
}

// Kind returns the kind of the controller, derived from the name of its type or package.
func (c Controller) Kind() string {
	if c.Type != "Controller" {
		return c.Type
	}
	return c.Folder.Name()
}

// Components returns the names of the components that Setup adds. It finds only names that are string literals.
func (c Controller) Components() []string {
	var found []string
	session := c.session()
	ast.Inspect(c.setup.Body, func(node ast.Node) bool {
		call, is := node.(*ast.CallExpr)
		if !is || receiverOf(call) != session || len(call.Args) == 0 || methodOf(call) != "Use" && methodOf(call) != "Add" {
			return true
		}
		if literal, is := call.Args[0].(*ast.BasicLit); is && literal.Kind == token.STRING {
			if name, err := strconv.Unquote(literal.Value); err == nil && !slices.Contains(found, name) {
				found = append(found, name)
			}
		}
		return true
	})
	return found
}

// Line returns the line that adds a component of a Go type.
func (c Controller) Line(component, of string, after []string) string {
	local := c.File.imported(reconcilePath)
	line := fmt.Sprintf("%s.Use(%q, %s{})", c.session(), component, of)
	for _, upstream := range after {
		line += fmt.Sprintf(".After(%s.Component(%q), %s.Ready)", c.session(), upstream, local)
	}
	return line
}

// Use adds a line to Setup, before the return at its end. If Setup doesn't end with `return nil`, the error is
// ErrNoPlace.
func (c Controller) Use(line string) ([]byte, error) {
	statements := c.setup.Body.List
	if len(statements) == 0 {
		return nil, ErrNoPlace
	}
	end, is := statements[len(statements)-1].(*ast.ReturnStmt)
	if !is || len(end.Results) != 1 {
		return nil, ErrNoPlace
	}
	if result, is := end.Results[0].(*ast.Ident); !is || result.Name != "nil" {
		return nil, ErrNoPlace
	}
	at := c.File.offset(end.Pos())
	indent, alone := c.File.indent(at)
	if !alone {
		return nil, ErrNoPlace
	}
	return c.File.insert(insertion{c.File.lineStart(at), indent + line + "\n"})
}

// Name returns the path of the controller's file relative to root, for messages.
func (c Controller) Name(root string) string {
	if relative, err := filepath.Rel(root, c.File.Path); err == nil {
		return filepath.ToSlash(relative)
	}
	return c.File.Path
}

// session returns the name of Setup's parameter for the session, with which components are added.
func (c Controller) session() string { return c.setup.Type.Params.List[1].Names[0].Name }

// isSetup reports whether a function is the method Setup of a controller, with named parameters.
func (f *File) isSetup(function *ast.FuncDecl) bool {
	parameters := function.Type.Params.List
	if typeOf(function.Recv) == "" || function.Name.Name != "Setup" || function.Body == nil || len(parameters) != 2 || len(parameters[1].Names) != 1 {
		return false
	}
	pointer, is := parameters[1].Type.(*ast.StarExpr)
	if !is || parameters[1].Names[0].Name == "_" {
		return false
	}
	session, is := pointer.X.(*ast.SelectorExpr)
	if !is || session.Sel.Name != "Session" {
		return false
	}
	pkg, is := session.X.(*ast.Ident)
	return is && pkg.Name == f.imported(reconcilePath)
}

// typeOf returns the name of a receiver's type, or "" if there is no receiver.
func typeOf(receiver *ast.FieldList) string {
	if receiver == nil || len(receiver.List) != 1 {
		return ""
	}
	of := receiver.List[0].Type
	if pointer, is := of.(*ast.StarExpr); is {
		of = pointer.X
	}
	if ident, is := of.(*ast.Ident); is {
		return ident.Name
	}
	return ""
}
