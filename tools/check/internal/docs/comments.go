package docs

import (
	"go/ast"
	"go/token"
	"iter"
	"slices"
	"strings"
	"unicode"
)

// identifier is an exported name of a package and where it is declared.
type identifier struct {
	name, place string
	documented  bool
}

// members lists a package's exported functions and methods, the exported fields of its exported types and the methods
// of its interfaces. The comments of types, constants and variables are checked by golangci-lint (revive), which skips
// some methods.
func (s source) members(files *token.FileSet) []identifier {
	var all []identifier
	for _, f := range s.files {
		l := lister{files: files, file: f}
		for _, d := range f.Decls {
			group, is := d.(*ast.GenDecl)
			if !is {
				f, _ := d.(*ast.FuncDecl)
				if name, exported := function(f); exported {
					l.add(f.Pos(), name, text(f.Doc) != "")
				}
				continue
			}
			for _, spec := range group.Specs {
				if t, is := spec.(*ast.TypeSpec); is && t.Name.IsExported() {
					l.members(t.Name.Name, text(group.Doc, t.Doc), t.Type)
				}
			}
		}
		all = append(all, l.all...)
	}
	return all
}

// function returns the name of a function, or T.M for a method. A method is exported if its type is exported, too.
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

func (l *lister) add(pos token.Pos, name string, documented bool) {
	l.all = append(l.all, identifier{name: name, place: at(l.files, l.file, pos), documented: documented})
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
				l.add(name.Pos(), of+"."+name.Name, own != "" || says(comment, name.Name) || says(above, name.Name))
				l.members(of+"."+name.Name, own, field.Type)
			}
		}
	}
}

// says reports whether a comment contains a name as a word.
func says(comment, name string) bool {
	for word := range strings.FieldsFuncSeq(comment, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }) {
		if word == name {
			return true
		}
	}
	return false
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

// conventional are the methods that the standard library and the encodings call where a value is printed, compared,
// read or written: nobody calls them by name.
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

// offered returns the entry points of a declaration with their positions.
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
