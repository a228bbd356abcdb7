package docs

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"unicode"
)

// identifier is an exported name of a package and where it is declared.
type identifier struct {
	name, place string
	documented  bool
	// member is false for a type: golangci-lint (revive) checks the comments of types, constants and variables.
	member bool
	// entryPoint is true if the name needs an example.
	entryPoint bool
}

// identifiers lists a package's exported types, functions and methods, the exported fields of its exported types and
// the methods of its interfaces.
func (s source) identifiers(files *token.FileSet) []identifier {
	var all []identifier
	for _, f := range s.files {
		l := lister{files: files, file: f}
		for _, d := range f.Decls {
			l.declaration(d, !ast.IsGenerated(f.File))
		}
		all = append(all, l.all...)
	}
	return all
}

// function returns the name of a function, or T.M for a method. exported is true for a method only if T and M are
// exported.
func function(d *ast.FuncDecl) (name string, exported bool) {
	if d.Recv == nil {
		return d.Name.Name, d.Name.IsExported()
	}
	of := receiver(d.Recv.List[0].Type)
	return of + "." + d.Name.Name, ast.IsExported(of) && d.Name.IsExported()
}

// lister collects the exported names of one file.
type lister struct {
	files *token.FileSet
	file  file
	all   []identifier
}

// declaration adds the names of a declaration. Its functions, methods and types need examples if exampled is true.
func (l *lister) declaration(d ast.Decl, exampled bool) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if name, exported := function(d); exported {
			called := d.Recv == nil || !slices.Contains(conventional, d.Name.Name)
			l.all = append(l.all, identifier{name, at(l.files, l.file, d.Pos()), text(d.Doc) != "", true, exampled && called})
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if t, is := spec.(*ast.TypeSpec); is && t.Name.IsExported() {
				l.all = append(l.all, identifier{name: t.Name.Name, place: at(l.files, l.file, t.Pos()), entryPoint: exampled})
				l.members(t.Name.Name, text(d.Doc, t.Doc), t.Type)
			}
		}
	}
}

// members adds the exported fields of a struct and of structs inside of it, and the methods of an interface. Embedded
// types are documented where they are declared, so they are left out.
func (l *lister) members(of, comment string, expr ast.Expr) {
	switch t := expr.(type) {
	case *ast.StructType:
		l.fields(of, comment, t.Fields.List)
	case *ast.InterfaceType:
		if methods := t.Methods.List; comment != "" && len(methods) == 1 && len(methods[0].Names) == 1 {
			comment += " " + methods[0].Names[0].Name // as with io.Reader, the type's comment describes the method
		}
		l.fields(of, comment, t.Methods.List)
	case *ast.StarExpr:
		l.members(of, comment, t.X)
	case *ast.ArrayType:
		l.members(of, comment, t.Elt)
	case *ast.MapType:
		l.members(of, comment, t.Value)
	}
}

// fields adds fields, or the methods of an interface. A field without a comment of its own is documented if its name is
// in the comment of the type, or in a comment above the block of lines that it stands in.
func (l *lister) fields(of, comment string, list []*ast.Field) {
	above, last := "", 0
	for _, field := range list {
		own := text(field.Doc, field.Comment)
		if field.Doc != nil {
			above = text(field.Doc)
		} else if l.files.Position(field.Pos()).Line != last+1 {
			above = ""
		}
		last = l.files.Position(field.End()).Line
		for _, name := range field.Names {
			if name.IsExported() {
				documented := own != "" || says(comment, name.Name) || says(above, name.Name)
				l.all = append(l.all, identifier{of + "." + name.Name, at(l.files, l.file, name.Pos()), documented, true, false})
				l.members(of+"."+name.Name, own, field.Type)
			}
		}
	}
}

// says reports whether a comment contains a name as a word.
func says(comment, name string) bool {
	words := strings.FieldsFunc(comment, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' })
	return slices.Contains(words, name)
}

// text returns the text of comments without the lines for generators, which begin with a plus.
func text(comments ...*ast.CommentGroup) string {
	var lines []string
	for _, comment := range comments {
		for line := range strings.Lines(comment.Text()) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "+") {
				lines = append(lines, line)
			}
		}
	}
	return strings.Join(lines, " ")
}

// conventional are the methods that the standard library and encoders call when a value is printed, compared, read or
// written. Users don't call them by name.
var conventional = []string{
	"Error", "Unwrap", "Is", "As", "String", "GoString", "Format", "LogValue",
	"MarshalJSON", "UnmarshalJSON", "MarshalText", "UnmarshalText", "MarshalYAML", "UnmarshalYAML",
}

// exampleOf returns what an example shows, according to its name: "" for the package, F, T or T.M.
func exampleOf(name string) string {
	parts := strings.Split(strings.TrimPrefix(name, "Example"), "_")
	for i, part := range parts {
		if i > 0 && !ast.IsExported(part) { // a suffix, for several examples of the same thing
			parts = parts[:i]
			break
		}
	}
	return strings.Join(parts, ".")
}
