package lint

import (
	"context"
	"fmt"
	"strings"

	"github.com/operkit/operkit/tools/check/process"
	"github.com/operkit/operkit/tools/check/repository"
)

// Vulnerabilities finds known vulnerabilities that code of the modules reaches. If the vulnerability database can't be
// read, the report has a note about that.
func Vulnerabilities(ctx context.Context, r *repository.Repository, _ repository.Options) (repository.Report, error) {
	return vulnerabilities(ctx, r, "https://vuln.go.dev")
}

func vulnerabilities(ctx context.Context, r *repository.Repository, database string) (report repository.Report, err error) {
	program, err := build(ctx, r, "golang.org/x/vuln/cmd/govulncheck")
	if err != nil {
		return report, err
	}
	for _, m := range r.Modules {
		if !m.HasPackages(r.Root) {
			continue
		}
		out, err := process.Output(ctx, process.Command(ctx, r.Folder(m), r.Environ(m), program, "-db", database, "./..."))
		switch {
		case err == nil:
		case !process.Failed(err):
			return report, fmt.Errorf("%s: %w", m.Dir, err)
		case strings.Contains(err.Error(), "fetching vulnerabilities"), strings.Contains(err.Error(), "creating client"):
			report.Notes = append(report.Notes, "the vulnerability database can't be read: "+err.Error())
			return report, nil
		default:
			report.Problems = append(report.Problems, fmt.Sprintf("%s: %v\n%s", m.Dir, err, strings.TrimSpace(string(out))))
		}
	}
	return report, nil
}
