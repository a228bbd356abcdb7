package hygiene

import (
	"context"
	"fmt"
	"strings"

	"github.com/operkit/operkit/tools/check/internal/process"
	"github.com/operkit/operkit/tools/check/internal/repository"
)

// Tidy gives the difference that go mod tidy would make to each module alone, and a line for each requirement of a
// module that is lower than the version that the workspace builds with, which go work sync mends: with it the module is
// tested with another version than its users get.
func Tidy(ctx context.Context, r *repository.Repository) ([]string, error) {
	var problems []string
	for _, m := range r.Modules {
		alone := repository.Setenv(r.Environ(m), "GOWORK", "off")
		cmd := process.Command(ctx, r.Folder(m), alone, "go", "mod", "tidy", "-diff")
		out, err := process.Output(ctx, cmd)
		if err == nil {
			continue
		}
		if !process.Failed(err) {
			return nil, fmt.Errorf("%s: %w", m.Dir, err)
		}
		problems = append(problems, strings.TrimSpace(fmt.Sprintf("%s: %v\n%s", m.Dir, err, shorten(string(out)))))
	}
	drift, err := drift(ctx, r)
	return append(problems, drift...), err
}

// shorten leaves out what go.sum would change, which is long and says nothing beyond the changes of go.mod, except when
// there are no others.
func shorten(diff string) string {
	before, _, found := strings.Cut(diff, "diff current/go.sum tidy/go.sum\n")
	if !found || strings.TrimSpace(before) == "" {
		return diff
	}
	return strings.TrimRight(before, "\n") + "\nand go.sum"
}

// drift compares the direct requirements of the workspace's modules with the versions that the workspace selects.
func drift(ctx context.Context, r *repository.Repository) ([]string, error) {
	selected, problem, err := selectedVersions(ctx, r)
	if problem != "" || err != nil {
		return []string{problem}, err
	}
	var problems []string
	for _, m := range r.Modules {
		if !m.InWorkspace() {
			continue
		}
		required, err := r.Requirements(ctx, m)
		if err != nil {
			return nil, err
		}
		for _, need := range required {
			used, known := selected[need.Path]
			if known && !need.Indirect && used != need.Version {
				problems = append(problems, fmt.Sprintf("%s/go.mod: requires %s %s, the workspace builds with %s; run go work sync",
					m.Dir, need.Path, need.Version, used))
			}
		}
	}
	return problems, nil
}

// selectedVersions gives the version of every module that the workspace builds with. The workspace's own are left out.
func selectedVersions(ctx context.Context, r *repository.Repository) (versions map[string]string, problem string, err error) {
	cmd := process.Command(ctx, r.Root, r.WorkspaceEnviron(), "go", "list", "-m", "-f", "{{if not .Main}}{{.Path}} {{.Version}}{{end}}", "all")
	out, err := process.Output(ctx, cmd)
	if process.Failed(err) {
		return nil, "go.work: " + err.Error(), nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("go.work: %w", err)
	}
	versions = map[string]string{}
	for line := range strings.Lines(string(out)) {
		if fields := strings.Fields(line); len(fields) == 2 {
			versions[fields[0]] = fields[1]
		}
	}
	return versions, "", nil
}
