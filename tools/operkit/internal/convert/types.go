package convert

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/operkit/operkit/tools/operkit/internal/source"
)

// Side is one version of a kind.
type Side struct {
	// Package is the name under which the version's package is imported.
	Package string
	Folder  source.Folder
}

// isBasic reports whether a name is a type of the language that has values of its own: no interface.
func isBasic(name string) bool {
	object, is := types.Universe.Lookup(name).(*types.TypeName)
	if !is {
		return false
	}
	_, basic := object.Type().Underlying().(*types.Basic)
	return basic
}

// local returns the declaration of a type if it is a type of the version's package.
func (s Side) local(of source.Type) (name string, declared source.Type, is bool) {
	ident, is := of.Expr.(*ast.Ident)
	if !is || types.Universe.Lookup(ident.Name) != nil {
		return "", source.Type{}, false
	}
	declared, is = s.Folder.Type(ident.Name)
	return ident.Name, declared, is
}

// structure returns the struct that a type of the version's package is.
func (s Side) structure(of source.Type) (source.Type, bool) {
	for range 10 { // a type of a type: no more of them than anybody writes
		if _, is := of.Expr.(*ast.StructType); is {
			return of, true
		}
		_, declared, is := s.local(of)
		if !is {
			return of, false
		}
		of = declared
	}
	return of, false
}

// foreign returns a text that is the same for equal types that don't depend on the version's package, and reports false
// for all other types.
func (s Side) foreign(of source.Type) (string, bool) {
	switch t := of.Expr.(type) {
	case *ast.Ident:
		return t.Name, types.Universe.Lookup(t.Name) != nil
	case *ast.SelectorExpr:
		pkg, is := t.X.(*ast.Ident)
		if !is {
			return "", false
		}
		path := of.Import(pkg.Name)
		return path + "." + t.Sel.Name, path != ""
	case *ast.StarExpr:
		return s.within("*", of.Of(t.X))
	case *ast.ArrayType:
		switch size := t.Len.(type) {
		case nil:
			return s.within("[]", of.Of(t.Elt))
		case *ast.BasicLit:
			return s.within("["+size.Value+"]", of.Of(t.Elt))
		}
	case *ast.MapType:
		key, is := s.foreign(of.Of(t.Key))
		if !is {
			return "", false
		}
		return s.within("map["+key+"]", of.Of(t.Value))
	case *ast.InterfaceType:
		return "any", len(t.Methods.List) == 0
	}
	return "", false
}

func (s Side) within(before string, element source.Type) (string, bool) {
	text, is := s.foreign(element)
	return before + text, is
}

// basic returns the type of the language that a type is based on, such as string.
func (s Side) basic(of source.Type) (string, bool) {
	for range 10 {
		_, declared, is := s.local(of)
		if !is {
			break
		}
		of = declared
	}
	ident, is := of.Expr.(*ast.Ident)
	if !is || !isBasic(ident.Name) {
		return "", false
	}
	return ident.Name, true
}

// text returns a type as a file of another package writes it. It reports false for types of third packages.
func (s Side) text(of source.Type) (string, bool) {
	switch t := of.Expr.(type) {
	case *ast.Ident:
		if _, _, is := s.local(of); is {
			return s.Package + "." + t.Name, true
		}
		return t.Name, isBasic(t.Name)
	case *ast.StarExpr:
		return s.textWithin("*", of.Of(t.X))
	case *ast.ArrayType:
		if t.Len == nil {
			return s.textWithin("[]", of.Of(t.Elt))
		}
	case *ast.MapType:
		if key, is := s.text(of.Of(t.Key)); is {
			return s.textWithin("map["+key+"]", of.Of(t.Value))
		}
	}
	return "", false
}

func (s Side) textWithin(before string, element source.Type) (string, bool) {
	text, is := s.text(element)
	return before + text, is
}

// field is an exported field of a struct.
type field struct {
	name string
	of   source.Type
}

// fields returns the exported fields of a struct. except are the names of embedded types that are left out.
func fields(of source.Type, except ...string) (found []field) {
	structure, is := of.Expr.(*ast.StructType)
	if !is {
		return nil
	}
	for _, one := range structure.Fields.List {
		names := one.Names
		if len(names) == 0 {
			embedded := embeddedName(one.Type)
			if slices.Contains(except, embedded) {
				continue
			}
			names = []*ast.Ident{ast.NewIdent(embedded)}
		}
		for _, name := range names {
			if token.IsExported(name.Name) {
				found = append(found, field{name.Name, of.Of(one.Type)})
			}
		}
	}
	return found
}

// embeddedName returns the name of the field for an embedded type.
func embeddedName(of ast.Expr) string {
	switch t := of.(type) {
	case *ast.StarExpr:
		return embeddedName(t.X)
	case *ast.SelectorExpr:
		return t.Sel.Name
	case *ast.Ident:
		return t.Name
	}
	return ""
}
