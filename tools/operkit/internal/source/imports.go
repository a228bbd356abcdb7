package source

import (
	"go/ast"
	"go/token"
	"path"
	"strconv"
)

// importPath returns the import path of spec.
func importPath(spec *ast.ImportSpec) string {
	value, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return ""
	}
	return value
}

// importName returns the name of the imported package in the file: the name in spec, or else the last part of the path.
func importName(spec *ast.ImportSpec) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	return path.Base(importPath(spec))
}

// imported returns the name under which the file imports a path, or "" if it doesn't import it.
func (f *File) imported(of string) string {
	for _, spec := range f.tree.Imports {
		if importPath(spec) == of {
			return importName(spec)
		}
	}
	return ""
}

// addImport returns the insertion of an import at the end of the first import block; formatting then sorts it.
func (f *File) addImport(name, of string) (insertion, bool) {
	line := strconv.Quote(of)
	if path.Base(of) != name {
		line = name + " " + line
	}
	for _, decl := range f.tree.Decls {
		block, is := decl.(*ast.GenDecl)
		if !is || block.Tok != token.IMPORT || len(block.Specs) == 0 {
			continue
		}
		line += "\n"
		if !block.Lparen.IsValid() {
			line = "import " + line
		}
		return insertion{f.lineEnd(f.offset(block.Specs[len(block.Specs)-1].End())), line}, true
	}
	return insertion{}, false
}
