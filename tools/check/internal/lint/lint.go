package lint

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/operkit/operkit/tools/check/internal/process"
	"github.com/operkit/operkit/tools/check/internal/repository"
)

// measures are linters that tell where to look rather than what is wrong.
var measures = []string{"funlen", "gocognit", "nestif"}

// Lint gives what the linters find in every module: what is wrong, and what deserves a look, a text each. With race they
// read what was compiled for tests under the race detector, and needn't have all of it compiled again.
func Lint(ctx context.Context, r *repository.Repository, race bool) (problems, notes []string, err error) {
	program, err := build(ctx, r, "github.com/golangci/golangci-lint/v2/cmd/golangci-lint")
	if err != nil {
		return nil, nil, err
	}
	all, forget, err := groups(ctx, r, race)
	if err != nil {
		return nil, nil, err
	}
	defer forget()
	for _, group := range all {
		found, err := issues(ctx, group, program)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", group.Subject, err)
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

func issues(ctx context.Context, group repository.Group, program string) ([]issue, error) {
	words := append([]string{"run", "--allow-parallel-runners", "--issues-exit-code=0", "--show-stats=false", "--output.json.path=stdout"},
		group.Patterns...)
	cmd := process.Command(ctx, group.Folder, group.Environ, program, words...)
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
