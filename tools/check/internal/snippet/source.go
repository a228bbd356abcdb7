package snippet

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// read gives the text that source names: a path below root and, after a #, the name of a part.
func read(root, source string) (string, error) {
	path, name, part := strings.Cut(source, "#")
	if !filepath.IsLocal(filepath.FromSlash(path)) {
		return "", fmt.Errorf("%s: want a path that starts at the root of the repository", path)
	}
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s: there is no such file; paths start at the root of the repository", path)
	}
	if err != nil || !part {
		return string(text), err
	}
	found, ok, err := region(string(text), name)
	if !ok && err == nil && strings.HasSuffix(path, ".go") {
		found, ok, err = declaration(text, name)
	}
	switch {
	case err != nil:
		return "", fmt.Errorf("%s: %w", path, err)
	case !ok:
		return "", fmt.Errorf("%s: no region and no declaration has the name %s", path, name)
	}
	return found, nil
}

var boundary = regexp.MustCompile(`^\s*(?://|#|--|<!--|/\*)\s*(region|endregion)\s+(\S+)\s*(?:-->|\*/)?\s*$`)

// region gives what stands between the lines that begin and end the region of this name, without those of regions inside
// of it and without the indent that all of its lines have.
func region(text, name string) (found string, ok bool, err error) {
	var lines []string
	inside := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		bound := boundary.FindStringSubmatch(line)
		switch {
		case bound != nil && bound[2] == name && bound[1] == "region":
			if ok {
				return "", false, fmt.Errorf("region %s: it begins twice", name)
			}
			inside, ok = true, true
		case bound != nil && bound[2] == name:
			inside = false
		case inside && bound == nil:
			lines = append(lines, line)
		}
	}
	if inside {
		return "", false, fmt.Errorf("region %s: it has no end", name)
	}
	return strings.Join(unindent(lines), "\n"), ok, nil
}

// unindent takes away the white space that all lines begin with; empty lines have any.
func unindent(lines []string) []string {
	indent, known := "", false
	for _, line := range lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		own := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
		if !known {
			indent, known = own, true
		}
		for !strings.HasPrefix(own, indent) {
			indent = indent[:len(indent)-1]
		}
	}
	short := make([]string, len(lines))
	for i, line := range lines {
		if strings.TrimSpace(line) != "" {
			short[i] = strings.TrimPrefix(line, indent)
		}
	}
	return short
}

// declaration gives the top-level declaration of a function, type, constant or variable, or with a name like T.M of a
// method, with its doc comment. Of a group it is the whole.
func declaration(text []byte, name string) (found string, ok bool, err error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return "", false, err
	}
	for _, d := range file.Decls {
		if !slices.Contains(names(d), name) {
			continue
		}
		begin := d.Pos()
		if doc := docOf(d); doc != nil {
			begin = doc.Pos()
		}
		return string(text[files.Position(begin).Offset:files.Position(d.End()).Offset]), true, nil
	}
	return "", false, nil
}

// names are what a declaration declares.
func names(d ast.Decl) []string {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return []string{d.Name.Name}
		}
		return []string{receiver(d.Recv.List[0].Type) + "." + d.Name.Name}
	case *ast.GenDecl:
		var all []string
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				all = append(all, spec.Name.Name)
			case *ast.ValueSpec:
				for _, id := range spec.Names {
					all = append(all, id.Name)
				}
			}
		}
		return all
	}
	return nil
}

// receiver is the name of a receiver's type.
func receiver(expr ast.Expr) string {
	for {
		switch e := expr.(type) {
		case *ast.StarExpr:
			expr = e.X
		case *ast.IndexExpr:
			expr = e.X
		case *ast.IndexListExpr:
			expr = e.X
		case *ast.Ident:
			return e.Name
		default:
			return ""
		}
	}
}

func docOf(d ast.Decl) *ast.CommentGroup {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return d.Doc
	case *ast.GenDecl:
		return d.Doc
	}
	return nil
}
