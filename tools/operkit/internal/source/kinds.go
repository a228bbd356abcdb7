package source

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
)

// Type is a type expression in a file.
type Type struct {
	Expr ast.Expr
	file *File
}

// Of returns the type of an expression that is part of t.
func (t Type) Of(expr ast.Expr) Type { return Type{expr, t.file} }

// Import returns the path that the file of t imports under a name, or "" if it imports none.
func (t Type) Import(name string) string {
	for _, spec := range t.file.tree.Imports {
		if importName(spec) == name {
			return importPath(spec)
		}
	}
	return ""
}

// Type returns what a type of the package is declared as, such as a struct. It reports false for a type that the package
// doesn't declare, and for a generic type.
func (f Folder) Type(name string) (Type, bool) {
	for _, file := range f.Files {
		if _, spec := file.typeSpec(name); spec != nil && spec.TypeParams == nil && !file.isTest() {
			return Type{spec.Type, file}, true
		}
	}
	return Type{}, false
}

// Kinds returns the names of the kinds that the package declares, in the order of its files: structs with the embedded
// types TypeMeta and ObjectMeta.
func (f Folder) Kinds() (found []string) {
	for _, file := range f.Files {
		if !file.isTest() {
			found = append(found, file.kinds()...)
		}
	}
	return found
}

func (f *File) kinds() (found []string) {
	for _, decl := range f.tree.Decls {
		types, is := decl.(*ast.GenDecl)
		if !is || types.Tok != token.TYPE {
			continue
		}
		for _, spec := range types.Specs {
			if one, is := spec.(*ast.TypeSpec); is && embeds(one.Type, "TypeMeta") && embeds(one.Type, "ObjectMeta") {
				found = append(found, one.Name.Name)
			}
		}
	}
	return found
}

// embeds reports whether a struct embeds a type of this name from another package.
func embeds(of ast.Expr, name string) bool {
	structure, is := of.(*ast.StructType)
	return is && slices.ContainsFunc(structure.Fields.List, func(field *ast.Field) bool {
		selector, is := field.Type.(*ast.SelectorExpr)
		return is && len(field.Names) == 0 && selector.Sel.Name == name
	})
}

// typeSpec returns the declaration of a type, nil if the file doesn't declare it.
func (f *File) typeSpec(name string) (*ast.GenDecl, *ast.TypeSpec) {
	for _, decl := range f.tree.Decls {
		types, is := decl.(*ast.GenDecl)
		if !is {
			continue
		}
		for _, spec := range types.Specs {
			if one, is := spec.(*ast.TypeSpec); is && one.Name.Name == name {
				return types, one
			}
		}
	}
	return nil, nil
}

// Declaring returns the file that declares a type, function, constant or variable, nil if there is none.
func (f Folder) Declaring(name string) *File {
	for _, file := range f.Files {
		if slices.ContainsFunc(file.tree.Decls, func(decl ast.Decl) bool { return declares(decl, name) }) {
			return file
		}
	}
	return nil
}

// Base returns the name of the file without its folder.
func (f *File) Base() string { return filepath.Base(f.Path) }

// storageMarker marks the version of a kind that the API server stores.
const storageMarker = "+kubebuilder:storageversion"

// Stored reports whether a kind of the package is marked as the version that the API server stores.
func (f Folder) Stored(kind string) bool {
	file := f.Declaring(kind)
	return file != nil && slices.ContainsFunc(file.comments(kind), isStorage)
}

func isStorage(comment *ast.Comment) bool {
	return strings.TrimSpace(strings.TrimPrefix(comment.Text, "//")) == storageMarker
}

// comments returns the lines of a type's comment.
func (f *File) comments(of string) []*ast.Comment {
	decl, spec := f.typeSpec(of)
	switch {
	case spec == nil:
		return nil
	case spec.Doc != nil:
		return spec.Doc.List
	case decl.Doc != nil:
		return decl.Doc.List
	}
	return nil
}

// Store marks a kind as the version that the API server stores, below the marker that makes it a kind. changed is false
// if it is marked already.
func (f *File) Store(kind string) (text []byte, changed bool, err error) {
	comments := f.comments(kind)
	if slices.ContainsFunc(comments, isStorage) {
		return f.text, false, nil
	}
	for _, comment := range comments {
		if !strings.Contains(comment.Text, "+kubebuilder:object:root=true") || !strings.HasPrefix(comment.Text, "//") {
			continue
		}
		indent, alone := f.indent(f.offset(comment.Pos()))
		if !alone {
			break
		}
		text, err := f.insert(insertion{f.lineEnd(f.offset(comment.Pos())), indent + "// " + storageMarker + "\n"})
		return text, err == nil, err
	}
	return nil, false, ErrNoPlace
}
