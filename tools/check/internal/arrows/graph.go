package arrows

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/operkit/operkit/tools/check/internal/process"
	"github.com/operkit/operkit/tools/check/internal/repository"
)

// node is a package of the import graph.
type node struct {
	Imports      []string
	TestImports  []string
	XTestImports []string
	Standard     bool
}

// tests gives what the tests of the package import.
func (n node) tests() []string {
	all := slices.Concat(n.TestImports, n.XTestImports)
	slices.Sort(all)
	return slices.Compact(all)
}

// graph holds packages by import path.
type graph map[string]node

// listed is a package as go list -json prints it.
type listed struct {
	node
	ImportPath string
	ForTest    string
	Error      *struct{ Err string }
	Module     *struct{ Main bool }
}

// load reads the packages that patterns name and all they and their tests depend on. problems are those of packages
// of this repository that cannot be loaded.
func load(ctx context.Context, dir string, env []string, patterns ...string) (g graph, problems []string, err error) {
	args := append([]string{
		"list", "-mod=readonly", "-e", "-deps", "-test",
		"-json=ImportPath,Imports,TestImports,XTestImports,Standard,ForTest,Error,Module",
	}, patterns...)
	out, err := process.Output(ctx, process.Command(ctx, dir, env, "go", args...))
	if err != nil {
		return nil, nil, err
	}
	g = graph{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return g, problems, nil
		}
		if err != nil {
			return nil, nil, fmt.Errorf("go list: %w", err)
		}
		if p.ForTest != "" || strings.HasSuffix(p.ImportPath, ".test") {
			continue // a package as it is compiled for a test; its imports are those of the package and of its tests
		}
		g[p.ImportPath] = p.node
		if p.Error != nil {
			problems = append(problems, fmt.Sprintf("%s: %s", p.ImportPath, p.Error.Err))
		}
	}
}

// loadRepository reads the packages of a repository, the workspace at once and each other module by itself, since a
// package can have other versions there. Modules that the policy lets link anything are left out.
func loadRepository(ctx context.Context, r *repository.Repository) ([]graph, []string, error) {
	var patterns []string
	var graphs []graph
	var problems []string
	add := func(dir string, env []string, patterns ...string) error {
		g, found, err := load(ctx, dir, env, patterns...)
		graphs, problems = append(graphs, g), append(problems, found...)
		return err
	}
	for _, m := range r.Modules {
		switch {
		case !m.HasPackages(r.Root) || matches(m.Path, uncoupled):
		case m.InWorkspace():
			patterns = append(patterns, "./"+m.Dir+"/...")
		default:
			if err := add(r.Folder(m), r.Environ(m), "./..."); err != nil {
				return nil, nil, fmt.Errorf("%s: %w", m.Dir, err)
			}
		}
	}
	if len(patterns) > 0 {
		if err := add(r.Root, r.WorkspaceEnviron(), patterns...); err != nil {
			return nil, nil, err
		}
	}
	return graphs, problems, nil
}

// packages gives the import paths of this repository's packages, sorted.
func (g graph) packages() []string {
	var paths []string
	for path := range g {
		if ours(path) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// chain gives the shortest chain of imports, not counting those of tests, from one package to the first that is wanted;
// nil when there is none.
func (g graph) chain(from string, wanted func(path string) bool) []string {
	previous := map[string]string{from: ""}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
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
