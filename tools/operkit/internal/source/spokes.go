package source

import (
	"go/ast"
	"strings"
)

// conversionPath is the import path of the package with the type Converter.
const conversionPath = "github.com/operkit/operkit/reconcile/conversion"

// Converter is a function that returns the conversion of a kind, as `operkit add conversion` writes it.
type Converter struct {
	// File is the file with the function, and Function its name.
	File     *File
	Function string
	function *ast.FuncDecl
	hub      ast.Expr
}

// Converter returns the function of the package that returns the conversion of a kind, by a call such as
// conversion.New[v2.Guestbook](...).
func (f Folder) Converter(kind string) (Converter, bool) {
	for _, file := range f.Files {
		local := file.imported(conversionPath)
		if local == "" || file.isTest() {
			continue
		}
		for _, decl := range file.tree.Decls {
			function, is := decl.(*ast.FuncDecl)
			if !is || function.Recv != nil || function.Body == nil {
				continue
			}
			if hub := hubOf(function, local); nameOf(hub) == kind {
				return Converter{file, function.Name.Name, function, hub}, true
			}
		}
	}
	return Converter{}, false
}

// hubOf returns the type of the hub in a call of conversion.New, nil if there is none.
func hubOf(function *ast.FuncDecl, local string) (hub ast.Expr) {
	ast.Inspect(function.Body, func(node ast.Node) bool {
		call, is := node.(*ast.CallExpr)
		if !is {
			return true
		}
		if generic, is := call.Fun.(*ast.IndexExpr); is && isSelected(generic.X, local, "New") {
			hub = generic.Index
		}
		return hub == nil
	})
	return hub
}

func isSelected(expr ast.Expr, pkg, name string) bool {
	selector, is := expr.(*ast.SelectorExpr)
	if !is || selector.Sel.Name != name {
		return false
	}
	ident, is := selector.X.(*ast.Ident)
	return is && ident.Name == pkg
}

// Hub returns the import path of the package with the hub's type.
func (c Converter) Hub() string {
	selector, is := c.hub.(*ast.SelectorExpr)
	if !is {
		return ""
	}
	if pkg, is := selector.X.(*ast.Ident); is {
		return Type{c.hub, c.File}.Import(pkg.Name)
	}
	return ""
}

// Converts reports whether the function uses the package of a version.
func (c Converter) Converts(path string) bool {
	local, found := c.File.imported(path), false
	ast.Inspect(c.function.Body, func(node ast.Node) bool {
		ident, is := node.(*ast.Ident)
		found = found || is && local != "" && ident.Name == local
		return !found
	})
	return found
}

// Add adds a version to the function, before the return at its end, and the import of the version's package, whose name
// is pkg. line returns the line for the names of the converter and of the packages: conversion, the version and the hub.
// The error is ErrNoPlace if the function doesn't end with a return of the converter, or if the file doesn't use the name
// pkg for that package.
func (c Converter) Add(path, pkg string, line func(converter, conversion, version, hub string) string) ([]byte, error) {
	statements := c.function.Body.List
	if len(statements) == 0 {
		return nil, ErrNoPlace
	}
	end, is := statements[len(statements)-1].(*ast.ReturnStmt)
	if !is || len(end.Results) != 1 {
		return nil, ErrNoPlace
	}
	converter, is := end.Results[0].(*ast.Ident)
	at := c.File.offset(end.Pos())
	indent, alone := c.File.indent(at)
	hub, isSelector := c.hub.(*ast.SelectorExpr)
	if !is || !alone || !isSelector {
		return nil, ErrNoPlace
	}
	var added []insertion
	local := c.File.imported(path)
	if local == "" {
		if local = pkg; c.File.uses(pkg) {
			return nil, ErrNoPlace
		}
		imports, found := c.File.addImport(local, path)
		if !found {
			return nil, ErrNoPlace
		}
		// A version is imported under a name that says it, as in all files that operkit writes.
		if !strings.Contains(imports.text, local+" \"") {
			imports.text = strings.Replace(imports.text, "\"", local+" \"", 1)
		}
		added = append(added, imports)
	}
	text := line(converter.Name, c.File.imported(conversionPath), local, hub.X.(*ast.Ident).Name)
	return c.File.insert(append(added, insertion{c.File.lineStart(at), indent + text + "\n"})...)
}
