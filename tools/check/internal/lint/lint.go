package lint

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/operkit/operkit/tools/check/internal/process"
	"github.com/operkit/operkit/tools/check/internal/repository"
)

// measures are linters that tell where to look rather than what is wrong.
var measures = []string{"funlen", "gocognit", "nestif"}

// Lint gives what the linters find in every module: what is wrong, and what deserves a look, a text each. They read the
// workspace at once, in a quarter of the time that its modules take one after the other. With race they read what was compiled
// for tests under the race detector, and needn't have all of it compiled again.
func Lint(ctx context.Context, r *repository.Repository, race bool) (problems, notes []string, err error) {
	program, err := build(ctx, r, "github.com/golangci/golangci-lint/v2/cmd/golangci-lint")
	if err != nil {
		return nil, nil, err
	}
	for _, one := range runs(r, race) {
		found, err := issues(ctx, one, program)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", one.subject, err)
		}
		for _, issue := range found {
			if slices.Contains(measures, issue.FromLinter) {
				notes = append(notes, issue.String())
			} else {
				problems = append(problems, issue.String())
			}
		}
	}
	return problems, notes, nil
}

// run is what golangci-lint looks at together.
type run struct {
	subject, folder string
	env, patterns   []string
}

func runs(r *repository.Repository, race bool) (all []run) {
	var patterns []string
	for _, m := range r.Modules {
		switch {
		case !m.HasPackages(r.Root):
		case m.InWorkspace():
			patterns = append(patterns, "./"+m.Dir+"/...")
		default:
			all = append(all, run{m.Dir, r.Folder(m), environ(r, m, race), []string{"./..."}})
		}
	}
	if len(patterns) > 0 {
		all = slices.Insert(all, 0, run{"the workspace", r.Root, environ(r, repository.Module{}, race), patterns})
	}
	return all
}

// environ is the environment of this process as linters need it in a module, or, for the zero one, in the workspace.
func environ(r *repository.Repository, m repository.Module, race bool) []string {
	flags := append(strings.Fields(os.Getenv("GOFLAGS")), m.BuildFlags()...)
	if race && m.Race() {
		flags = append(flags, "-race")
	}
	return repository.Setenv(r.Environ(m), "GOFLAGS", strings.Join(flags, " "))
}

// issue is one of golangci-lint's report in JSON.
type issue struct {
	FromLinter, Text string
	Pos              struct {
		Filename     string
		Line, Column int
	}
}

// String gives the issue with its file below the root, as golangci-lint gives it: relative to its configuration.
func (i issue) String() string {
	return fmt.Sprintf("%s:%d:%d: %s (%s)", i.Pos.Filename, i.Pos.Line, i.Pos.Column, i.Text, i.FromLinter)
}

func issues(ctx context.Context, one run, program string) ([]issue, error) {
	words := append([]string{"run", "--allow-parallel-runners", "--issues-exit-code=0", "--show-stats=false", "--output.json.path=stdout"},
		one.patterns...)
	cmd := process.Command(ctx, one.folder, one.env, program, words...)
	out, err := process.Output(ctx, cmd)
	if err != nil {
		return nil, err
	}
	var report struct{ Issues []issue }
	if err := json.Unmarshal(out, &report); err != nil {
		return nil, fmt.Errorf("%s: its report isn't JSON: %w", process.Line(cmd), err)
	}
	return report.Issues, nil
}
