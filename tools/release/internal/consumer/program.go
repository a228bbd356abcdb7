package consumer

import (
	"context"
	"errors"
	"fmt"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/operkit/operkit/tools/check/process"
)

// consume writes a program that uses every importable package, builds it, and runs it. If the module has only commands,
// it counts the modules of the commands instead.
func (v *visit) consume(ctx context.Context) error {
	if importable := v.paths(goPackage.importable); len(importable) == 0 {
		return v.count(ctx, v.dir, v.paths(goPackage.command))
	}
	text, err := v.program(ctx)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(v.dir, "main.go"), []byte(text), 0o644); err != nil {
		return err
	}
	program := filepath.Join(v.dir, "consumer")
	for _, args := range [][]string{{"mod", "tidy"}, {"build", "-o", program, "."}} {
		if _, err := v.run(ctx, v.dir, args...); err != nil {
			return err
		}
	}
	info, err := os.Stat(program)
	if err != nil {
		return err
	}
	v.result.Bytes = info.Size()
	if _, err := process.Output(ctx, process.Command(ctx, v.dir, v.env, program)); err != nil {
		return fmt.Errorf("the program of the consumer: %w", err)
	}
	return v.count(ctx, v.dir, []string{"."})
}

// program returns the source of a program that can call every exported function of every package, so that all of them
// are linked. Functions with type parameters are left out.
func (v *visit) program(ctx context.Context) (string, error) {
	config := packages.Config{Context: ctx, Dir: v.dir, Env: v.env, Mode: packages.NeedName | packages.NeedTypes}
	loaded, err := packages.Load(&config, v.paths(goPackage.importable)...)
	if err != nil {
		return "", err
	}
	var imports, uses strings.Builder
	for i, p := range loaded {
		name := "_"
		for _, exported := range p.Types.Scope().Names() {
			function, is := p.Types.Scope().Lookup(exported).(*types.Func)
			if is && function.Exported() && function.Signature().TypeParams() == nil {
				name = fmt.Sprintf("p%d", i)
				fmt.Fprintf(&uses, "\t%s.%s,\n", name, exported)
			}
		}
		fmt.Fprintf(&imports, "\t%s %q\n", name, p.PkgPath)
	}
	return "package main\n\nimport (\n" + imports.String() + ")\n\nvar functions = []any{\n" + uses.String() +
		"}\n\nfunc main() { println(len(functions)) }\n", nil
}

// list finds the module's packages. It returns an error if there are none.
func (v *visit) list(ctx context.Context, folder, pattern string) error {
	cmd := process.Command(ctx, folder, v.env, "go", "list", "-json=ImportPath,Name,Module", pattern)
	found, err := process.JSON[goPackage](ctx, cmd)
	if err != nil {
		return err
	}
	v.packages = slices.DeleteFunc(found, func(p goPackage) bool { return p.Module.Path != v.Path })
	if v.result.Packages = len(v.packages); v.result.Packages == 0 {
		return errors.New("the module has no packages")
	}
	return nil
}

// paths returns the import paths of the packages for which choose returns true. A nil choose selects all packages.
func (v *visit) paths(choose func(goPackage) bool) []string {
	var paths []string
	for _, p := range v.packages {
		if choose == nil || choose(p) {
			paths = append(paths, p.ImportPath)
		}
	}
	return paths
}

// count records how many other modules the packages are compiled from.
func (v *visit) count(ctx context.Context, folder string, packages []string) error {
	args := []string{"list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}"}
	out, err := v.run(ctx, folder, append(args, packages...)...)
	if err != nil {
		return err
	}
	others := slices.DeleteFunc(lines(out), func(path string) bool { return path == v.Path })
	slices.Sort(others)
	v.result.Modules = len(slices.Compact(others))
	return nil
}

// lines returns the lines of a text that aren't empty.
func lines(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
}
