package consumer

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/operkit/operkit/tools/check/internal/importgraph"
	"github.com/operkit/operkit/tools/check/repository"
)

// Build has the packages that consumers of one module compile.
type Build struct {
	// Problems has an entry for each package that can't be loaded. If there are any, the rest of Build is incomplete.
	Problems []string

	own                 string // the module's path
	graph               importgraph.Graph
	libraries, programs []string
}

// Load reads which packages the consumers of a module compile. It uses the versions that the module's go.mod requires,
// without the workspace.
func Load(ctx context.Context, r *repository.Repository, m repository.Module) (Build, error) {
	build := Build{own: m.Path}
	if !m.HasPackages(r.Root) {
		return build, nil
	}
	alone := repository.Setenv(r.Environ(m), "GOWORK", "off")
	var err error
	if build.graph, build.Problems, err = importgraph.Load(ctx, r.Folder(m), alone, "./..."); err != nil {
		return build, err
	}
	for _, path := range slices.Sorted(maps.Keys(build.graph)) {
		switch p := build.graph[path]; {
		case p.DepOnly || isInternal(path) || len(p.GoFiles) == 0: // without GoFiles a package has only tests
		case p.Name == "main":
			build.programs = append(build.programs, path)
		default:
			build.libraries = append(build.libraries, path)
		}
	}
	return build, nil
}

// Offered returns the packages that other modules can import. It also returns the programs if the module's root folder
// is a program, or if no package can be imported.
func (b Build) Offered() []string {
	if len(b.libraries) == 0 || slices.Contains(b.programs, b.own) {
		return b.Packages()
	}
	return b.libraries
}

// Packages returns the packages that a consumer can import and the programs that can be installed.
func (b Build) Packages() []string { return slices.Concat(b.libraries, b.programs) }

// Modules returns the modules that the given packages import directly or indirectly, by path, without this module and
// the standard library.
func (b Build) Modules(packages []string) map[string]importgraph.Module {
	modules := map[string]importgraph.Module{}
	for _, path := range b.graph.Reached(packages) {
		if module := b.graph[path].Module; module != nil && module.Path != b.own {
			modules[module.Path] = *module
		}
	}
	return modules
}

// Chain returns the shortest chain of imports from one of the packages to a package of the given module.
func (b Build) Chain(packages []string, module string) []string {
	return b.graph.Chain(packages, b.isIn(module))
}

// isIn returns a function that reports whether a package belongs to the given module.
func (b Build) isIn(module string) func(path string) bool {
	return func(path string) bool {
		from := b.graph[path].Module
		return from != nil && from.Path == module
	}
}

// Imports reports whether a package of this module directly imports a package of the given module, outside of tests.
func (b Build) Imports(module string) bool {
	for path, p := range b.graph {
		if b.isIn(b.own)(path) && slices.ContainsFunc(p.Imports, b.isIn(module)) {
			return true
		}
	}
	return false
}

// isInternal reports whether the package is internal, so that no other module may import it.
func isInternal(path string) bool {
	return slices.Contains(strings.Split(path, "/"), "internal")
}
