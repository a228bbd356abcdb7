package importgraph

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/operkit/operkit/tools/check/process"
)

// Package is a package of the graph.
type Package struct {
	// Name is the name in its package clause. GoFiles are its files without test files.
	Name    string
	GoFiles []string
	// Imports are the packages that it imports outside of tests. TestImports and XTestImports are the imports of its
	// tests.
	Imports      []string
	TestImports  []string
	XTestImports []string
	// Standard reports whether it belongs to the standard library.
	Standard bool
	// DepOnly is true if no pattern named the package: it is in the graph because another package depends on it.
	DepOnly bool
	// Module is the module that the package comes from, or nil for the standard library.
	Module *Module
}

// Module is the module that a package comes from, as the go command describes it.
type Module struct {
	// Path and Version identify the module in an importer's go.mod. Version is empty if the module is built from its
	// folder.
	Path, Version string
	// Dir is the folder with its files.
	Dir string
}

// Tests returns what the tests of the package import, sorted.
func (p Package) Tests() []string {
	all := slices.Concat(p.TestImports, p.XTestImports)
	slices.Sort(all)
	return slices.Compact(all)
}

// Graph holds packages by import path.
type Graph map[string]Package

// Chain returns the shortest chain of imports from one of the packages to a package for which wanted returns true, both
// included. Imports of tests don't count. Chain returns nil if there is no such chain.
func (g Graph) Chain(from []string, wanted func(path string) bool) []string {
	previous := map[string]string{}
	for _, path := range from {
		previous[path] = ""
	}
	for queue := slices.Clone(from); len(queue) > 0; queue = queue[1:] {
		path := queue[0]
		if wanted(path) {
			var chain []string
			for at := path; at != ""; at = previous[at] {
				chain = append(chain, at)
			}
			slices.Reverse(chain)
			return chain
		}
		for _, next := range g[path].Imports {
			if _, seen := previous[next]; !seen {
				previous[next] = path
				queue = append(queue, next)
			}
		}
	}
	return nil
}

// Reached returns the packages and everything that they import directly or indirectly, sorted. Imports of tests don't
// count.
func (g Graph) Reached(from []string) []string {
	var reached []string
	g.Chain(from, func(path string) bool {
		reached = append(reached, path)
		return false
	})
	slices.Sort(reached)
	return slices.Compact(reached)
}

// listed is a package as go list -json prints it.
type listed struct {
	Package
	ImportPath string
	ForTest    string
	Error      *struct{ Err string }
}

// Load reads the packages that patterns name, their tests, and all dependencies. dir and env are the folder and the
// environment of the go command. problems has an entry for each package that can't be loaded.
func Load(ctx context.Context, dir string, env []string, patterns ...string) (g Graph, problems []string, err error) {
	args := append([]string{
		"list", "-mod=readonly", "-e", "-deps", "-test",
		"-json=ImportPath,Name,GoFiles,Imports,TestImports,XTestImports,Standard,DepOnly,ForTest,Error,Module",
	}, patterns...)
	all, err := process.JSON[listed](ctx, process.Command(ctx, dir, env, "go", args...))
	g = Graph{}
	for _, p := range all {
		if p.ForTest != "" || p.Name == "main" && strings.HasSuffix(p.ImportPath, ".test") {
			continue // a package as compiled for a test; its imports are in the graph already
		}
		g[p.ImportPath] = p.Package
		if p.Error != nil {
			problems = append(problems, fmt.Sprintf("%s: %s", p.ImportPath, p.Error.Err))
		}
	}
	return g, problems, err
}
