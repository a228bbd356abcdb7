package docs

import (
	"go/ast"
	"go/token"
	"strings"
	"unicode"
)

// identifier is an exported name of a package and where it is declared.
type identifier struct {
	name, place string
	documented  bool
}

// identifiers lists the exported names of a package: types with their fields and the methods that their interfaces have,
// functions, methods of exported types, constants and variables.
func (s source) identifiers(files *token.FileSet) []identifier {
	var all []identifier
	for _, f := range s.files {
		l := lister{files: files, file: f}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if name, exported := function(d); exported {
					l.add(d.Pos(), name, text(d.Doc) != "")
				}
			case *ast.GenDecl:
				l.declared(d)
			}
		}
		all = append(all, l.all...)
	}
	return all
}

// function gives the name of a function, T.M for a method, and whether it is exported and, of a method, its type too.
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

// declared adds the types, constants and variables of a declaration. The comment of a group counts for each of it.
func (l *lister) declared(d *ast.GenDecl) {
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			if spec.Name.IsExported() {
				comment := text(d.Doc, spec.Doc)
				l.add(spec.Pos(), spec.Name.Name, comment != "")
				l.members(spec.Name.Name, comment, spec.Type)
			}
		case *ast.ValueSpec:
			for _, name := range spec.Names {
				if name.IsExported() {
					l.add(name.Pos(), name.Name, text(d.Doc, spec.Doc, spec.Comment) != "")
				}
			}
		}
	}
}

// members adds the exported fields of a struct, those of structs inside of it too, and the methods of an interface. What
// is embedded has its comment where it is declared.
func (l *lister) members(of, comment string, expr ast.Expr) {
	switch t := expr.(type) {
	case *ast.StructType:
		l.fields(of, comment, t.Fields.List)
	case *ast.InterfaceType:
		if methods := t.Methods.List; comment != "" && len(methods) == 1 && len(methods[0].Names) == 1 {
			comment += " " + methods[0].Names[0].Name // as with io.Reader, the comment is that of the method
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

// fields adds fields, or the methods of an interface. One without a comment of its own is documented where the comment of
// the type, or the one above the lines that it stands in without an empty one between, says its name.
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

// says reports whether a comment holds a name as a word.
func says(comment, name string) bool {
	for word := range strings.FieldsFuncSeq(comment, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }) {
		if word == name {
			return true
		}
	}
	return false
}

// text is what comments say to people: lines that begin with a plus are for generators.
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
