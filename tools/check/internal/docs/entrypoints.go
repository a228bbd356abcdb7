package docs

import (
	"go/ast"
	"go/token"
	"iter"
	"slices"
	"strings"
)

// conventional are the methods that the standard library and the encodings call where a value is printed, compared, read or
// written: nobody calls them by name.
var conventional = []string{
	"Error", "Unwrap", "Is", "As", "String", "GoString", "Format", "LogValue",
	"MarshalJSON", "UnmarshalJSON", "MarshalText", "UnmarshalText", "MarshalYAML", "UnmarshalYAML",
}

// entryPoints lists the exported functions and types of a package and the exported methods of these types.
func (s source) entryPoints(files *token.FileSet) []identifier {
	var all []identifier
	for _, f := range s.files {
		if ast.IsGenerated(f.File) {
			continue
		}
		for _, d := range f.Decls {
			for name, pos := range offered(d) {
				all = append(all, identifier{name: name, place: at(files, f, pos)})
			}
		}
	}
	return all
}

// offered gives the entry points of a declaration and where they stand.
func offered(d ast.Decl) iter.Seq2[string, token.Pos] {
	return func(yield func(string, token.Pos) bool) {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name, exported := function(d)
			if exported && (d.Recv == nil || !slices.Contains(conventional, d.Name.Name)) {
				yield(name, d.Pos())
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if t, is := spec.(*ast.TypeSpec); is && t.Name.IsExported() && !yield(t.Name.Name, t.Pos()) {
					return
				}
			}
		}
	}
}

// exampleOf gives what the name of an example says it shows: "" for the package, F, T or T.M.
func exampleOf(name string) string {
	parts := strings.Split(strings.TrimPrefix(name, "Example"), "_")
	for i, part := range parts {
		if i > 0 && !ast.IsExported(part) { // a suffix, which tells several of the same apart
			parts = parts[:i]
			break
		}
	}
	return strings.Join(parts, ".")
}
