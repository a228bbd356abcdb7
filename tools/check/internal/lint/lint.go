package lint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/operkit/operkit/tools/check/process"
	"github.com/operkit/operkit/tools/check/repository"
)

// measures are linters whose findings are hints, not mistakes.
var measures = []string{"funlen", "gocognit", "nestif"}

// Lint returns the findings of the linters in every module: mistakes as problems, and hints as notes. If race is true,
// the linters use the packages that were compiled for tests under the race detector, so that nothing is compiled again.
func Lint(ctx context.Context, r *repository.Repository, race bool) (report repository.Report, err error) {
	program, err := build(ctx, r, "github.com/golangci/golangci-lint/v2/cmd/golangci-lint")
	if err != nil {
		return report, err
	}
	dir, err := os.MkdirTemp("", "operkit-lint-")
	if err != nil {
		return report, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // if that fails, a small folder stays
	all, err := groups(ctx, r, race, dir)
	if err != nil {
		return report, err
	}
	for _, group := range all {
		found, err := issues(ctx, group, program)
		if err != nil {
			return report, fmt.Errorf("%s: %w", group.Subject, err)
		}
		for _, issue := range found {
			if slices.Contains(measures, issue.FromLinter) {
				report.Notes = append(report.Notes, issue.String())
			} else {
				report.Problems = append(report.Problems, issue.String())
			}
		}
	}
	return report, nil
}

// issue is one issue in golangci-lint's JSON report.
type issue struct {
	FromLinter, Text string
	Pos              struct {
		Filename     string
		Line, Column int
	}
}

// String returns the issue as one line. Its file is relative to the root, where golangci-lint's configuration is.
func (i issue) String() string {
	return fmt.Sprintf("%s:%d:%d: %s (%s)", i.Pos.Filename, i.Pos.Line, i.Pos.Column, i.Text, i.FromLinter)
}

func issues(ctx context.Context, group repository.Group, program string) ([]issue, error) {
	words := append([]string{"run", "--allow-parallel-runners", "--issues-exit-code=0", "--show-stats=false", "--output.json.path=stdout"},
		group.Patterns...)
	cmd := process.Command(ctx, group.Folder, group.Environ, program, words...)
	report, err := process.One[struct{ Issues []issue }](ctx, cmd)
	return report.Issues, err
}

// groups returns the groups of modules that are linted together. Linting all modules at once takes a quarter of the
// time of linting one after the other. The control plane is a separate group, because it has its own flags and linters.
// All other modules are one group. dir is a folder for temporary files.
func groups(ctx context.Context, r *repository.Repository, race bool, dir string) (all []repository.Group, err error) {
	together := repository.Group{Subject: "all modules at once", Folder: r.Root}
	var folders []string
	for _, m := range r.Modules {
		switch {
		case !m.HasPackages(r.Root):
		case m.IsControlPlane():
			all = append(all, repository.Group{
				Subject: m.Dir, Folder: r.Folder(m), Environ: repository.AddFlags(r.Environ(m), m.BuildFlags(race)...), Patterns: []string{"./..."},
			})
		default:
			folders = append(folders, r.Folder(m))
			together.Patterns = append(together.Patterns, "./"+m.Dir+"/...")
		}
	}
	if len(folders) == 0 {
		return all, nil
	}
	if err := writeWorkspace(ctx, r, dir, folders); err != nil {
		return nil, fmt.Errorf("make a workspace of all modules: %w: check whether the requirements of the modules conflict", err)
	}
	together.Environ = repository.Setenv(r.WorkspaceEnviron(), "GOWORK", filepath.Join(dir, "go.work"))
	if race {
		together.Environ = repository.AddFlags(together.Environ, "-race")
	}
	return append([]repository.Group{together}, all...), nil
}

// writeWorkspace writes a go.work in dir for modules of the repository. Modules that must not be in the go.work at the
// root are allowed here: for linting, other versions of their requirements don't matter.
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

// Folder is the folder of the module that pins the versions of the tools.
const Folder = "tools/lint"

// build compiles the tool of a package into .cache/bin and returns its path. It takes no time if nothing has changed.
func build(ctx context.Context, r *repository.Repository, pkg string) (string, error) {
	program := filepath.Join(r.Root, ".cache", "bin", path.Base(pkg))
	env := repository.Setenv(os.Environ(), "GOWORK", "off")
	cmd := process.Command(ctx, filepath.Join(r.Root, Folder), process.Roomy(env), "go", "build", "-o", program, pkg)
	if _, err := process.Output(ctx, cmd); err != nil {
		return "", fmt.Errorf("%s: %w", Folder, err)
	}
	return program, nil
}
