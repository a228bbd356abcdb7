package hygiene

import (
	"context"
	"fmt"
	"strings"

	"github.com/operkit/operkit/tools/check/internal/process"
	"github.com/operkit/operkit/tools/check/internal/repository"
)

// Vet gives what go vet says of every module, each with its own environment and build flags. With race it reads what was
// compiled for tests under the race detector, and needn't have all of it compiled again.
func Vet(ctx context.Context, r *repository.Repository, race bool) ([]string, error) {
	var problems []string
	for _, m := range r.Modules {
		if !m.HasPackages(r.Root) {
			continue
		}
		args := append([]string{"vet"}, m.BuildFlags()...)
		if race && m.Race() {
			args = append(args, "-race")
		}
		problem, err := run(ctx, r, m, append(args, "./...")...)
		if err != nil {
			return nil, err
		}
		if problem != "" {
			problems = append(problems, m.Dir+": "+problem)
		}
	}
	return problems, nil
}

// run runs the go command in a module. What it prints when it fails is the problem; the error is for a command that
// could not be run.
func run(ctx context.Context, r *repository.Repository, m repository.Module, args ...string) (problem string, err error) {
	cmd := process.Command(ctx, r.Folder(m), r.Environ(m), "go", args...)
	out, err := process.Output(ctx, cmd)
	switch {
	case err == nil:
		return "", nil
	case process.Failed(err):
		text := err.Error()
		if len(out) > 0 {
			text += "\n" + strings.TrimRight(string(out), "\n")
		}
		return text, nil
	}
	return "", fmt.Errorf("%s: %w", m.Dir, err)
}
