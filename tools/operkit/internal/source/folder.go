package source

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// File is a Go file that was read.
type File struct {
	// Path is the path of the file.
	Path string
	text []byte
	set  *token.FileSet
	tree *ast.File
}

// Parse parses a Go file. path is for errors.
func Parse(path string, text []byte) (*File, error) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, path, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("fix this file first: %w", err)
	}
	return &File{Path: path, text: text, set: set, tree: tree}, nil
}

// Folder is a Go package: the files of a folder, tests included.
type Folder struct {
	Path  string
	Files []*File
}

// ReadFolder reads the Go files of a folder, in the order of their names. A folder that doesn't exist has no files.
func ReadFolder(path string) (Folder, error) {
	names, err := filepath.Glob(filepath.Join(escaped(path), "*.go"))
	if err != nil {
		return Folder{}, err
	}
	folder := Folder{Path: path}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return Folder{}, err
		}
		file, err := Parse(name, text)
		if err != nil {
			return Folder{}, err
		}
		folder.Files = append(folder.Files, file)
	}
	return folder, nil
}

// escaped returns a glob pattern that matches only the path.
func escaped(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// Name returns the name of the package, or "" if there are no files.
func (f Folder) Name() string {
	for _, file := range f.Files {
		if !file.isTest() {
			return file.tree.Name.Name
		}
	}
	return ""
}

// Without returns the folder without the files with these names.
func (f Folder) Without(names ...string) Folder {
	f.Files = slices.DeleteFunc(slices.Clone(f.Files), func(file *File) bool { return slices.Contains(names, filepath.Base(file.Path)) })
	return f
}

// With returns the folder with more files. Of two files of the same name it keeps the one that it has.
func (f Folder) With(files ...*File) Folder {
	f.Files = slices.Clone(f.Files)
	for _, file := range files {
		if !f.Has(file.Base()) {
			f.Files = append(f.Files, file)
		}
	}
	return f
}

// Has reports whether there is a file of this name.
func (f Folder) Has(name string) bool {
	return slices.ContainsFunc(f.Files, func(file *File) bool { return filepath.Base(file.Path) == name })
}

// Uses reports whether a name occurs anywhere in the files.
func (f Folder) Uses(name string) bool {
	return slices.ContainsFunc(f.Files, func(file *File) bool { return file.uses(name) })
}

func (f *File) uses(name string) (found bool) {
	ast.Inspect(f.tree, func(node ast.Node) bool {
		ident, is := node.(*ast.Ident)
		found = found || is && ident.Name == name
		return !found
	})
	for _, spec := range f.tree.Imports {
		found = found || importName(spec) == name
	}
	return found
}

// Declares reports whether a type, function, constant or variable of the package has this name.
func (f Folder) Declares(name string) bool {
	return slices.ContainsFunc(f.Files, func(file *File) bool {
		return slices.ContainsFunc(file.tree.Decls, func(decl ast.Decl) bool { return declares(decl, name) })
	})
}

func declares(decl ast.Decl, name string) bool {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		return d.Recv == nil && d.Name.Name == name
	case *ast.GenDecl:
		return slices.ContainsFunc(d.Specs, func(spec ast.Spec) bool {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				return s.Name.Name == name
			case *ast.ValueSpec:
				return slices.ContainsFunc(s.Names, func(ident *ast.Ident) bool { return ident.Name == name })
			}
			return false
		})
	}
	return false
}

// Function reports whether the package has a function with this name and number of parameters.
func (f Folder) Function(name string, parameters int) bool {
	return slices.ContainsFunc(f.Files, func(file *File) bool {
		return slices.ContainsFunc(file.tree.Decls, func(decl ast.Decl) bool {
			function, is := decl.(*ast.FuncDecl)
			return is && function.Recv == nil && function.Name.Name == name && function.Type.Params.NumFields() == parameters
		})
	})
}

// Method reports whether a type of the package has this method.
func (f Folder) Method(of, name string) bool {
	return slices.ContainsFunc(f.Files, func(file *File) bool {
		return slices.ContainsFunc(file.tree.Decls, func(decl ast.Decl) bool {
			method, is := decl.(*ast.FuncDecl)
			return is && method.Name.Name == name && typeOf(method.Recv) == of
		})
	})
}

// Imports reports whether a file of the package imports a path.
func (f Folder) Imports(path string) bool {
	return slices.ContainsFunc(f.Files, func(file *File) bool { return file.imported(path) != "" })
}

// Marker returns the value of a comment such as "+groupName=example.com" in the files, or "" if there is none.
func (f Folder) Marker(name string) string {
	for _, file := range f.Files {
		for _, group := range file.tree.Comments {
			for line := range strings.Lines(group.Text()) {
				if value, found := strings.CutPrefix(strings.TrimSpace(line), "+"+name+"="); found {
					return value
				}
			}
		}
	}
	return ""
}

func (f *File) isTest() bool { return strings.HasSuffix(f.Path, "_test.go") }

func (f *File) offset(pos token.Pos) int { return f.set.Position(pos).Offset }

// lineStart returns the offset at which the line of an offset begins.
func (f *File) lineStart(offset int) int {
	return strings.LastIndexByte(string(f.text[:offset]), '\n') + 1
}

// lineEnd returns the offset after the newline that ends the line of the given offset, or the length of the file if
// there is no such newline.
func (f *File) lineEnd(offset int) int {
	if end := strings.IndexByte(string(f.text[offset:]), '\n'); end >= 0 {
		return offset + end + 1
	}
	return len(f.text)
}
