package source

import (
	"fmt"
	"go/ast"
	"go/format"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// FilesOf returns the files that declare a kind and what the kind uses of its package. A file with another kind is an
// error, because that kind isn't meant.
func (f Folder) FilesOf(kind string) ([]*File, error) {
	wanted := []string{kind, kind + "List", kind + "Kind"}
	var found []*File
	for i := 0; i < len(wanted); i++ {
		file := f.Declaring(wanted[i])
		if file == nil || file.isTest() || file.isGenerated() || slices.Contains(found, file) {
			continue
		}
		found = append(found, file)
		wanted = append(wanted, file.names()...)
	}
	for _, file := range found {
		for _, other := range file.kinds() {
			if other != kind {
				return nil, fmt.Errorf("%s is a file of %s and of %s: move what belongs to %s into a file of its own", file.Path, kind, other, other)
			}
		}
	}
	return found, nil
}

func (f *File) isGenerated() bool { return strings.HasPrefix(f.Base(), "zz_generated.") }

// names returns all names in the file that may be declared elsewhere in the package.
func (f *File) names() (names []string) {
	ast.Inspect(f.tree, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.SelectorExpr: // what is selected belongs to something else
			ast.Inspect(n.X, func(node ast.Node) bool {
				if ident, is := node.(*ast.Ident); is {
					names = append(names, ident.Name)
				}
				return true
			})
			return false
		case *ast.Ident:
			names = append(names, n.Name)
		}
		return true
	})
	return names
}

// Declared returns the names of all types, functions, constants and variables that the file declares.
func (f *File) Declared() (names []string) {
	for _, decl := range f.tree.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				names = append(names, d.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					names = append(names, s.Name.Name)
				case *ast.ValueSpec:
					for _, ident := range s.Names {
						names = append(names, ident.Name)
					}
				}
			}
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "_" || name == "init" })
}

// versionTypes are the types of apimachinery that have a version of an API.
var versionTypes = []string{"GroupVersion", "GroupVersionKind", "GroupVersionResource"}

// unwanted are markers that are about one version of a kind, and don't belong into a copy.
var unwanted = []string{storageMarker, "+kubebuilder:unservedversion", "+kubebuilder:deprecatedversion", "+kubebuilder:skipversion"}

// InVersion returns the text of the file for a package pkg with another version of its API: with that version in values
// such as schema.GroupVersionKind, and without markers that are about one version only.
func (f *File) InVersion(from, to, pkg string) ([]byte, error) {
	type change struct {
		from, to int
		text     string
	}
	name := f.tree.Name
	changes := []change{{f.offset(name.Pos()), f.offset(name.End()), pkg}}
	ast.Inspect(f.tree, func(node ast.Node) bool {
		value, is := node.(*ast.CompositeLit)
		if !is || !slices.Contains(versionTypes, nameOf(value.Type)) {
			return true
		}
		ast.Inspect(value, func(node ast.Node) bool {
			if text, is := node.(*ast.BasicLit); is && text.Kind == token.STRING && text.Value == strconv.Quote(from) {
				changes = append(changes, change{f.offset(text.Pos()), f.offset(text.End()), strconv.Quote(to)})
			}
			return true
		})
		return false
	})
	for _, group := range f.tree.Comments {
		for _, comment := range group.List {
			marker, _, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(comment.Text, "//")), ":warning")
			if slices.Contains(unwanted, marker) {
				at := f.offset(comment.Pos())
				changes = append(changes, change{f.lineStart(at), f.lineEnd(at), ""})
			}
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return b.from - a.from })
	text := string(f.text)
	for _, one := range changes { // from the end
		text = text[:one.from] + one.text + text[one.to:]
	}
	formatted, err := format.Source([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	return formatted, nil
}

// nameOf returns the name of a type, without its package.
func nameOf(of ast.Expr) string {
	switch t := of.(type) {
	case *ast.SelectorExpr:
		return t.Sel.Name
	case *ast.Ident:
		return t.Name
	}
	return ""
}
