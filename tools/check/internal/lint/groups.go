package lint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/operkit/operkit/tools/check/internal/process"
	"github.com/operkit/operkit/tools/check/internal/repository"
)

// groups is what is looked at together: everything, in a quarter of the time that its modules take one after the other,
// but the control plane, which has flags and linters of its own. forget takes away what that needed.
func groups(ctx context.Context, r *repository.Repository, race bool) (all []repository.Group, forget func(), err error) {
	together := repository.Group{Subject: "all modules at once", Folder: r.Root}
	var folders []string
	for _, m := range r.Modules {
		switch {
		case !m.HasPackages(r.Root):
		case m.IsControlPlane():
			all = append(all, repository.Group{
				Subject: m.Dir, Folder: r.Folder(m), Environ: repository.AddFlags(r.Environ(m), m.BuildFlags()...), Patterns: []string{"./..."},
			})
		default:
			folders = append(folders, r.Folder(m))
			together.Patterns = append(together.Patterns, "./"+m.Dir+"/...")
		}
	}
	if len(folders) == 0 {
		return all, func() {}, nil
	}
	dir, err := os.MkdirTemp("", "operkit-lint-")
	if err != nil {
		return nil, nil, err
	}
	forget = func() { _ = os.RemoveAll(dir) } // what stays is small and in nobody's way
	if err := writeWorkspace(ctx, r, dir, folders); err != nil {
		forget()
		return nil, nil, fmt.Errorf("a workspace of all modules, to read them at once (do their requirements go together?): %w", err)
	}
	together.Environ = repository.Setenv(r.WorkspaceEnviron(), "GOWORK", filepath.Join(dir, "go.work"))
	if race {
		together.Environ = repository.AddFlags(together.Environ, "-race")
	}
	return append([]repository.Group{together}, all...), forget, nil
}

// writeWorkspace makes a go.work in dir for modules of the repository, those that go.work at the root must not hold included:
// what is only read may be of other versions than what runs.
func writeWorkspace(ctx context.Context, r *repository.Repository, dir string, folders []string) error {
	env := repository.Setenv(os.Environ(), "GOWORK", "off")
	if _, err := process.Output(ctx, process.Command(ctx, dir, env, "go", append([]string{"work", "init"}, folders...)...)); err != nil {
		return err
	}
	sums, err := os.ReadFile(filepath.Join(r.Root, "go.work.sum"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "go.work.sum"), sums, 0o600)
}
