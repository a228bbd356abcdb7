package hygiene

import (
	"context"
	"strings"

	"github.com/operkit/operkit/tools/check/internal/process"
	"github.com/operkit/operkit/tools/check/internal/repository"
)

// Clean gives a line for each file that git finds changed, added or gone since the last commit, as git status --porcelain
// prints it. What .gitignore names is left out.
func Clean(ctx context.Context, r *repository.Repository) ([]string, error) {
	out, err := process.Output(ctx, process.Command(ctx, r.Root, nil, "git", "status", "--porcelain", "--untracked-files=all"))
	if err != nil {
		return nil, err
	}
	var problems []string
	for line := range strings.Lines(string(out)) {
		problems = append(problems, strings.TrimRight(line, "\n"))
	}
	return problems, nil
}
