package budget

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operkit/operkit/tools/check/internal/consumer"
	"github.com/operkit/operkit/tools/check/internal/importgraph"
	"github.com/operkit/operkit/tools/check/repository"
)

// Check compares every module with its budget. A released module must have one.
func Check(ctx context.Context, r *repository.Repository, o repository.Options) (report repository.Report, err error) {
	budgets := 0
	for _, m := range r.Modules {
		name := m.Dir + "/" + FileName
		text, err := os.ReadFile(filepath.Join(r.Folder(m), FileName))
		if errors.Is(err, fs.ErrNotExist) {
			if m.Released {
				report.Problems = append(report.Problems, name+": it is missing, though the module is released (it has a "+repository.ChangelogFile+")")
			}
			continue
		}
		if err != nil {
			return report, err
		}
		budget, err := Parse(name, string(text))
		if err != nil {
			report.Problems = append(report.Problems, err.Error())
			continue
		}
		problems, figure, err := hold(ctx, r, m, budget)
		if err != nil {
			return report, fmt.Errorf("%s: %w", m.Dir, err)
		}
		budgets++
		report.Problems = append(report.Problems, problems...)
		if o.Verbose && figure != "" {
			report.Notes = append(report.Notes, figure)
		}
	}
	report.Summary = fmt.Sprintf("%d budgets", budgets)
	return report, nil
}

// hold compares one module with its budget. figure is a text with the number of modules that its importers compile, and
// the limit.
func hold(ctx context.Context, r *repository.Repository, m repository.Module, budget Budget) (problems []string, figure string, err error) {
	build, err := consumer.Load(ctx, r, m)
	if err != nil || len(build.Problems) > 0 {
		return build.Problems, "", err
	}
	compiled := build.Modules(build.Offered())
	problems = exceeded(m, build, compiled, budget)
	for _, problem := range budget.reasons(build, m.Requires) {
		problems = append(problems, m.Dir+"/"+FileName+": "+problem)
	}
	return problems, fmt.Sprintf("%s: %d of %d modules", m.Dir, len(compiled), budget.Modules), nil
}

// exceeded returns a problem if there are too many modules, with the chain of imports to each module. It also returns a
// problem for each module that must not be compiled.
func exceeded(m repository.Module, build consumer.Build, compiled map[string]importgraph.Module, budget Budget) []string {
	var problems []string
	chain := func(module string) string { return strings.Join(build.Chain(build.Offered(), module), " -> ") }
	paths := slices.Sorted(maps.Keys(compiled))
	if len(paths) > budget.Modules {
		var text strings.Builder
		fmt.Fprintf(&text, "%s: its importers compile %d other modules, the budget is %d; the chains of imports to them are:", m.Dir, len(paths), budget.Modules)
		for _, path := range paths {
			fmt.Fprintf(&text, "\n    %s: %s", path, chain(path))
		}
		problems = append(problems, text.String())
	}
	for _, path := range paths {
		for _, never := range budget.Never {
			if path == never || strings.HasPrefix(path, strings.TrimSuffix(never, "/")+"/") {
				problems = append(problems, fmt.Sprintf("%s: its importers compile %s, but the budget has 'never %s': %s", m.Dir, path, never, chain(path)))
			}
		}
	}
	return problems
}

// reasons compares the lines of requirements with go.mod.
func (b Budget) reasons(build consumer.Build, required []repository.Requirement) []string {
	var problems []string
	direct := map[string]bool{}
	for _, need := range required {
		if need.Indirect {
			continue
		}
		direct[need.Path] = true
		at := slices.IndexFunc(b.Requirements, func(r Requirement) bool { return r.Path == need.Path })
		switch {
		case at < 0:
			problems = append(problems, fmt.Sprintf("go.mod requires %s: add a line that says why", need.Path))
		case b.Requirements[at].Tests && build.Imports(need.Path):
			problems = append(problems, need.Path+": also code outside of tests uses it; move its line before 'tests:'")
		case !b.Requirements[at].Tests && !build.Imports(need.Path):
			problems = append(problems, need.Path+": only tests use it; move its line after 'tests:'")
		}
	}
	for _, line := range b.Requirements {
		if !direct[line.Path] {
			problems = append(problems, line.Path+": go.mod does not require it directly; remove the line")
		}
	}
	return problems
}
