package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
)

// figuresHelp says what the columns of figures are.
const figuresHelp = `
Counted are Go files without tests, zz_* and testdata; nested modules count with their parent.
lines      without blank ones and those that hold a comment alone
exported   package-level names of packages that others can import
options    functions there that return a type named ...Option, and exported fields of structs
           there that are named ...Options, ...Settings or ...Config
file, func lines of each, comments included: median/90th percentile
`

// figures are those of a part of the repository.
type figures struct {
	lines, exported, options int
	packages                 map[string]bool
	files, functions         []int
}

func prepareFigures(flags *flag.FlagSet) func(context.Context, environment) error {
	root := flags.String("repo", "", "a checkout of the repository, of any commit; this one when empty")
	return func(_ context.Context, env environment) error {
		if *root == "" {
			*root = env.repository.Root
		}
		product := []string{"dag", "smp", "status", "vcs", "deploy", "reconcile", "operator"}
		table := tabwriter.NewWriter(env.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
		_, _ = fmt.Fprintln(table, "part\tfiles\tlines\tpackages\texported\toptions\tfile\tfunc\t")
		for _, name := range product {
			if err := row(table, *root, name, name); err != nil {
				return err
			}
		}
		err := errors.Join(
			row(table, *root, "all of these", product...), row(table, *root, "tools", "tools"),
			row(table, *root, "check, release", "tools/check", "tools/release"), table.Flush(),
		)
		_, _ = fmt.Fprint(env.stdout, figuresHelp)
		return err
	}
}

// row prints the figures of the files below folders.
func row(table *tabwriter.Writer, root, name string, folders ...string) error {
	f := figures{packages: map[string]bool{}}
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			switch base := entry.Name(); {
			case entry.IsDir() && (base == "testdata" || base[0] == '.' || folder == "tools" && (base == "peers" || base == "bench")):
				return filepath.SkipDir
			case entry.IsDir() || !strings.HasSuffix(base, ".go") || strings.HasSuffix(base, "_test.go") || strings.HasPrefix(base, "zz_"):
				return nil
			}
			return f.add(path)
		})
		if err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%d\t%s\t%s\t\n",
		name, len(f.files), f.lines, len(f.packages), f.exported, f.options, spread(f.files), spread(f.functions))
	return err
}

// spread is the median and the 90th percentile.
func spread(sizes []int) string {
	if len(sizes) == 0 {
		return "-"
	}
	slices.Sort(sizes)
	return fmt.Sprintf("%d/%d", sizes[len(sizes)/2], sizes[len(sizes)*9/10])
}

func (f *figures) add(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 && !bytes.HasPrefix(line, []byte("//")) {
			f.lines++
		}
	}
	f.files = append(f.files, bytes.Count(text, []byte("\n")))
	f.packages[filepath.Dir(path)] = true
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	offered := file.Name.Name != "main" && !slices.Contains(strings.Split(filepath.ToSlash(path), "/"), "internal")
	for _, d := range file.Decls {
		if function, is := d.(*ast.FuncDecl); is {
			f.functions = append(f.functions, set.Position(d.End()).Line-set.Position(d.Pos()).Line+1)
			if offered && function.Recv == nil && function.Name.IsExported() {
				f.exported++
				if returnsOption(function) {
					f.options++
				}
			}
		} else if offered {
			f.declared(d.(*ast.GenDecl))
		}
	}
	return nil
}

// declared counts the exported names of a declaration, and the fields of structs of settings.
func (f *figures) declared(d *ast.GenDecl) {
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			if !spec.Name.IsExported() {
				continue
			}
			f.exported++
			isSettings := slices.ContainsFunc([]string{"Options", "Settings", "Config"}, func(end string) bool { return strings.HasSuffix(spec.Name.Name, end) })
			if s, is := spec.Type.(*ast.StructType); is && isSettings {
				f.options += exportedFields(s)
			}
		case *ast.ValueSpec:
			for _, name := range spec.Names {
				if name.IsExported() {
					f.exported++
				}
			}
		}
	}
}

func exportedFields(s *ast.StructType) (count int) {
	for _, field := range s.Fields.List {
		if len(field.Names) == 0 {
			count++
		}
		for _, name := range field.Names {
			if name.IsExported() {
				count++
			}
		}
	}
	return count
}

// returnsOption reports whether the only result of a function is of a type named ...Option.
func returnsOption(function *ast.FuncDecl) bool {
	if function.Type.Results == nil || len(function.Type.Results.List) != 1 {
		return false
	}
	switch t := function.Type.Results.List[0].Type.(type) {
	case *ast.Ident:
		return strings.HasSuffix(t.Name, "Option")
	case *ast.SelectorExpr:
		return strings.HasSuffix(t.Sel.Name, "Option")
	case *ast.IndexExpr:
		name, is := t.X.(*ast.Ident)
		return is && strings.HasSuffix(name.Name, "Option")
	}
	return false
}
