package controlplane

import (
	"context"
	"fmt"
	"strings"

	"github.com/operkit/operkit/tools/check/internal/process"
	"github.com/operkit/operkit/tools/check/internal/repository"
)

// envtest is the package through which tests reach the control plane.
const envtest = repository.Prefix + "/tools/envtest"

// Needed reports whether a test of one of modules depends on tools/envtest. Packages that do not build are no error
// here: the test run reports them.
func Needed(ctx context.Context, r *repository.Repository, modules []repository.Module) (bool, error) {
	for _, group := range r.Groups(modules) {
		if needed, err := dependsOn(ctx, group); needed || err != nil {
			return needed, err
		}
	}
	return false, nil
}

// Users tells which of modules require tools/envtest, by their folders: most of the time their tests wait for a control
// plane.
func Users(ctx context.Context, r *repository.Repository, modules []repository.Module) (map[string]bool, error) {
	users := map[string]bool{}
	for _, m := range modules {
		required, err := r.Requirements(ctx, m)
		if err != nil {
			return nil, err
		}
		for _, other := range required {
			if other.Path == envtest && !other.Indirect {
				users[m.Dir] = true
			}
		}
	}
	return users, nil
}

func dependsOn(ctx context.Context, group repository.Group) (bool, error) {
	args := append([]string{"list", "-mod=readonly", "-e", "-deps", "-test", "-f", "{{.ImportPath}}"}, group.Patterns...)
	out, err := process.Output(ctx, process.Command(ctx, group.Folder, group.Environ, "go", args...))
	if err != nil {
		return false, fmt.Errorf("%s: dependencies of the tests: %w", group.Subject, err)
	}
	for line := range strings.Lines(string(out)) {
		path, _, _ := strings.Cut(strings.TrimSpace(line), " ") // what follows names the test a package is compiled for
		if path == envtest {
			return true, nil
		}
	}
	return false, nil
}
