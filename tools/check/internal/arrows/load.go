package arrows

import (
	"context"
	"fmt"
	"slices"

	"github.com/operkit/operkit/tools/check/internal/importgraph"
	"github.com/operkit/operkit/tools/check/internal/repository"
)

// loadRepository reads the packages of a repository. Modules that the policy lets link anything are left out.
func loadRepository(ctx context.Context, r *repository.Repository) (graphs []importgraph.Graph, problems []string, err error) {
	coupled := slices.DeleteFunc(slices.Clone(r.Modules), func(m repository.Module) bool { return matches(m.Path, uncoupled) })
	for _, group := range r.Groups(coupled) {
		g, found, err := importgraph.Load(ctx, group.Folder, group.Environ, group.Patterns...)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", group.Subject, err)
		}
		graphs, problems = append(graphs, g), append(problems, found...)
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
