package lint

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operkit/operkit/tools/check/internal/process"
	"github.com/operkit/operkit/tools/check/internal/repository"
)

// groups is what is looked at together: everything, in a quarter of the time that its modules take one after the other,
// but the control plane, which is made of other versions of the same. forget takes away what that needed.
func groups(ctx context.Context, r *repository.Repository, race bool) (groups []repository.Group, forget func(), err error) {
	together := repository.Group{Subject: "all modules at once", Folder: r.Root}
	var folders []string
	for _, m := range r.Modules {
		switch {
		case !m.HasPackages(r.Root):
		case m.IsControlPlane():
			for _, alone := range r.Groups([]repository.Module{m}) {
				alone.Environ = withFlags(alone.Environ, m.BuildFlags()...)
				groups = append(groups, alone)
			}
		default:
			folders = append(folders, r.Folder(m))
			together.Patterns = append(together.Patterns, "./"+m.Dir+"/...")
		}
	}
	if len(folders) == 0 {
		return groups, func() {}, nil
	}
	workspace, err := workspace(ctx, r, folders)
	if err != nil {
		return nil, nil, err
	}
	together.Environ = repository.Setenv(r.WorkspaceEnviron(), "GOWORK", filepath.Join(workspace, "go.work"))
	if race {
		together.Environ = withFlags(together.Environ, "-race")
	}
	return slices.Insert(groups, 0, together), func() { _ = os.RemoveAll(workspace) }, nil
}

// workspace makes a folder with a go.work for modules of the repository, those that go.work at the root must not hold
// included: what is only read may be of other versions than what runs.
func workspace(ctx context.Context, r *repository.Repository, folders []string) (dir string, err error) {
	dir, err = os.MkdirTemp("", "operkit-lint-")
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(dir)
		}
	}()
	env := repository.Setenv(os.Environ(), "GOWORK", "off")
	if _, err := process.Output(ctx, process.Command(ctx, dir, env, "go", append([]string{"work", "init"}, folders...)...)); err != nil {
		return "", err
	}
	sums, err := os.ReadFile(filepath.Join(r.Root, "go.work.sum"))
	if errors.Is(err, fs.ErrNotExist) {
		return dir, nil
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "go.work.sum"), sums, 0o600)
	}
	return dir, err
}

// withFlags gives an environment with flags added to those that the go command has from GOFLAGS.
func withFlags(env []string, flags ...string) []string {
	return repository.Setenv(env, "GOFLAGS", strings.Join(append(strings.Fields(os.Getenv("GOFLAGS")), flags...), " "))
}
