package arrows

import (
	"context"
	"fmt"
	"slices"

	"github.com/operkit/operkit/tools/check/internal/importgraph"
	"github.com/operkit/operkit/tools/check/internal/repository"
)

// loadRepository reads the packages of a repository, the workspace at once and each other module by itself, since a
// package can have other versions there. Modules that the policy lets link anything are left out.
func loadRepository(ctx context.Context, r *repository.Repository) ([]importgraph.Graph, []string, error) {
	var patterns []string
	var graphs []importgraph.Graph
	var problems []string
	add := func(dir string, env []string, patterns ...string) error {
		g, found, err := importgraph.Load(ctx, dir, env, patterns...)
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

// ourPackages gives the import paths of this repository's packages, sorted.
func ourPackages(g importgraph.Graph) []string {
	var paths []string
	for path := range g {
		if ours(path) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}
