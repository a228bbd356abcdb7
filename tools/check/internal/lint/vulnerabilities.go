package lint

import (
	"context"
	"fmt"
	"strings"

	"github.com/operkit/operkit/tools/check/internal/process"
	"github.com/operkit/operkit/tools/check/internal/repository"
)

// Vulnerabilities gives the known ones that code of the modules reaches. Where their database can't be reached nothing
// is known, and the note says so.
func Vulnerabilities(ctx context.Context, r *repository.Repository) (problems, notes []string, err error) {
	return vulnerabilities(ctx, r, "https://vuln.go.dev")
}

func vulnerabilities(ctx context.Context, r *repository.Repository, database string) (problems, notes []string, err error) {
	program, err := build(ctx, r, "golang.org/x/vuln/cmd/govulncheck")
	if err != nil {
		return nil, nil, err
	}
	for _, m := range r.Modules {
		if !m.HasPackages(r.Root) {
			continue
		}
		out, err := process.Output(ctx, process.Command(ctx, r.Folder(m), r.Environ(m), program, "-db", database, "./..."))
		switch {
		case err == nil:
		case !process.Failed(err):
			return problems, notes, fmt.Errorf("%s: %w", m.Dir, err)
		case strings.Contains(err.Error(), "fetching vulnerabilities"), strings.Contains(err.Error(), "creating client"):
			return problems, append(notes, "nothing is known of vulnerabilities: "+err.Error()), nil
		default:
			problems = append(problems, fmt.Sprintf("%s: %v\n%s", m.Dir, err, strings.TrimSpace(string(out))))
		}
	}
	return problems, notes, nil
}
