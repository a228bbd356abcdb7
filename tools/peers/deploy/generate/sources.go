package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// sources reads the declarations of Go types, with the comments and constants that reflection doesn't have.
type sources struct {
	// folders are the folders of the modules that declare the types of Kubernetes, by module path.
	folders  map[string]string
	packages map[string]*goPackage
}

// goPackage is the part of a package's source that is used.
type goPackage struct {
	// imports are the import paths, by the names that the package uses for them.
	imports map[string]string
	// comments are the lines of the comments between the previous declaration and the declaration of a type, by type.
	comments map[string][]string
	// constants are the declared constants, by name.
	constants map[string]constant
}

// constant is a declared constant. typeName is empty if its type isn't declared in the package.
type constant struct {
	typeName string
	value    ast.Expr
}

// goDeclaration is what the source declares for a type: the lines of its comments, and the values of its constants in
// ascending order.
type goDeclaration struct {
	comments  []string
	constants []string
}

// has reports whether a comment of the type is a marker.
func (d goDeclaration) has(marker string) bool { return slices.Contains(d.comments, marker) }

func newSources() (*sources, error) {
	s := &sources{folders: map[string]string{}, packages: map[string]*goPackage{}}
	modules := []string{"k8s.io/api", "k8s.io/apiextensions-apiserver", "k8s.io/apimachinery", "k8s.io/kube-aggregator"}
	out, err := exec.Command("go", append([]string{"list", "-m", "-f", "{{.Path}}\t{{.Dir}}"}, modules...)...).Output()
	if err != nil {
		return nil, fmt.Errorf("folders of Kubernetes' modules: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		module, folder, _ := strings.Cut(strings.TrimSpace(line), "\t")
		s.folders[module] = folder
	}
	return s, nil
}

// declaration returns the declaration of a named type.
func (s *sources) declaration(t reflect.Type) (goDeclaration, error) {
	p, err := s.load(t.PkgPath())
	if err != nil {
		return goDeclaration{}, err
	}
	d := goDeclaration{comments: p.comments[t.Name()]}
	for name, c := range p.constants {
		if c.typeName != t.Name() {
			continue
		}
		value, err := s.value(p, c.value)
		if err != nil {
			return d, fmt.Errorf("constant %s.%s: %w", t.PkgPath(), name, err)
		}
		d.constants = append(d.constants, value)
	}
	slices.Sort(d.constants)
	d.constants = slices.Compact(d.constants)
	return d, nil
}

// value returns the value of a string constant.
func (s *sources) value(p *goPackage, e ast.Expr) (string, error) {
	switch e := e.(type) {
	case *ast.BasicLit:
		return strconv.Unquote(e.Value)
	case *ast.CallExpr: // a conversion
		return s.value(p, e.Args[0])
	case *ast.Ident:
		return s.value(p, p.constants[e.Name].value)
	case *ast.SelectorExpr:
		if name, ok := e.X.(*ast.Ident); ok {
			other, err := s.load(p.imports[name.Name])
			if err != nil {
				return "", err
			}
			return s.value(other, e.Sel)
		}
	}
	return "", fmt.Errorf("can't compute a %T", e)
}

// load reads a package.
func (s *sources) load(importPath string) (*goPackage, error) {
	if p := s.packages[importPath]; p != nil {
		return p, nil
	}
	p := &goPackage{imports: map[string]string{}, comments: map[string][]string{}, constants: map[string]constant{}}
	for module, folder := range s.folders {
		below, ok := strings.CutPrefix(importPath, module+"/")
		if !ok {
			continue
		}
		files, err := filepath.Glob(filepath.Join(folder, filepath.FromSlash(below), "*.go"))
		if err != nil {
			return nil, err
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(filepath.Base(name), "zz_") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				return nil, err
			}
			p.add(file)
		}
		s.packages[importPath] = p
		return p, nil
	}
	return nil, fmt.Errorf("package %s: %w", importPath, fs.ErrNotExist)
}

func (p *goPackage) add(file *ast.File) {
	for _, spec := range file.Imports {
		importPath, _ := strconv.Unquote(spec.Path.Value)
		name := path.Base(importPath)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		p.imports[name] = importPath
	}
	end := file.Name.End()
	for _, decl := range file.Decls {
		if group, ok := decl.(*ast.GenDecl); ok {
			p.addGroup(group, commentsBetween(file, end, group.TokPos))
		}
		end = decl.End()
	}
}

func (p *goPackage) addGroup(group *ast.GenDecl, comments []string) {
	for _, spec := range group.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			p.comments[spec.Name.Name] = comments
		case *ast.ValueSpec:
			if group.Tok != token.CONST {
				continue
			}
			for i, value := range spec.Values {
				typeName, _ := spec.Type.(*ast.Ident)
				if conversion, ok := value.(*ast.CallExpr); ok && typeName == nil {
					typeName, _ = conversion.Fun.(*ast.Ident)
				}
				c := constant{value: value}
				if typeName != nil {
					c.typeName = typeName.Name
				}
				p.constants[spec.Names[i].Name] = c
			}
		}
	}
}

// commentsBetween returns the lines of the comments in a part of a file.
func commentsBetween(file *ast.File, from, to token.Pos) []string {
	var lines []string
	for _, comment := range file.Comments {
		if comment.Pos() >= from && comment.End() <= to {
			lines = append(lines, strings.Split(comment.Text(), "\n")...)
		}
	}
	return lines
}
