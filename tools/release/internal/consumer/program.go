package consumer

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operkit/operkit/tools/release/internal/process"
)

// consume writes a program that uses every package that it may, builds it as its author would, and runs it. A module of
// commands alone has nothing to be imported: its own commands are counted.
func (v *visit) consume(ctx context.Context) error {
	if importable := v.paths(goPackage.importable); len(importable) == 0 {
		return v.count(ctx, v.dir, v.paths(func(p goPackage) bool { return p.Name == "main" }))
	}
	text, err := v.program()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(v.dir, "main.go"), []byte(text), 0o644); err != nil {
		return err
	}
	program := filepath.Join(v.dir, "consumer")
	for _, args := range [][]string{{"mod", "tidy"}, {"build", "-o", program, "."}} {
		if err := v.loud(ctx, v.dir, args...); err != nil {
			return err
		}
	}
	info, err := os.Stat(program)
	if err != nil {
		return err
	}
	v.result.Bytes = info.Size()
	if err := v.start(ctx, program); err != nil {
		return err
	}
	return v.count(ctx, v.dir, []string{"."})
}

// start runs the program that was built.
func (v *visit) start(ctx context.Context, program string) error {
	out, err := process.Program{Dir: v.dir, Env: v.env, Name: program}.Combined(ctx)
	if err != nil {
		return fmt.Errorf("the program of the consumer: %w\n%s", err, out)
	}
	return nil
}

// program is the text of a program that can call every exported function of every package, so that all of that is linked.
func (v *visit) program() (string, error) {
	var imports, uses strings.Builder
	for i, p := range v.packages {
		if !p.importable() {
			continue
		}
		functions, err := exportedFunctions(p)
		if err != nil {
			return "", err
		}
		name := fmt.Sprintf("p%d", i)
		if len(functions) == 0 {
			name = "_"
		}
		fmt.Fprintf(&imports, "\t%s %q\n", name, p.ImportPath)
		for _, function := range functions {
			fmt.Fprintf(&uses, "\t%s.%s,\n", name, function)
		}
	}
	return "package main\n\nimport (\n" + imports.String() + ")\n\nvar functions = []any{\n" + uses.String() +
		"}\n\nfunc main() { println(len(functions)) }\n", nil
}

// exportedFunctions lists the functions of a package that can be used as they are: no methods, none with type parameters.
func exportedFunctions(p goPackage) ([]string, error) {
	var names []string
	files := token.NewFileSet()
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, declaration := range file.Decls {
			function, is := declaration.(*ast.FuncDecl)
			if is && function.Recv == nil && function.Type.TypeParams == nil && function.Name.IsExported() {
				names = append(names, function.Name.Name)
			}
		}
	}
	slices.Sort(names)
	return names, nil
}
