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
	"github.com/operkit/operkit/tools/check/internal/repository"
)

// Report is the outcome of a check.
type Report struct {
	// Problems holds one text for each promise that is not kept.
	Problems []string
	// Figures tells for each module with a budget how many modules its importers compile and may compile.
	Figures []string
}

// Check holds every module with a budget to it, and every module that is released to having one.
func Check(ctx context.Context, r *repository.Repository) (Report, error) {
	var report Report
	released := r.Released()
	for _, m := range r.Modules {
		name := m.Dir + "/" + FileName
		text, err := os.ReadFile(filepath.Join(r.Folder(m), FileName))
		if errors.Is(err, fs.ErrNotExist) {
			if slices.Contains(released, m) {
				report.Problems = append(report.Problems, name+": it is missing, though the module is released (it has a "+repository.ChangelogFile+")")
			}
			continue
		}
		if err != nil {
			return Report{}, err
		}
		budget, err := Parse(name, string(text))
		if err != nil {
			report.Problems = append(report.Problems, err.Error())
			continue
		}
		if err := report.hold(ctx, r, m, budget); err != nil {
			return Report{}, fmt.Errorf("%s: %w", m.Dir, err)
		}
	}
	return report, nil
}

// hold compares one module with its budget.
func (report *Report) hold(ctx context.Context, r *repository.Repository, m repository.Module, budget Budget) error {
	build, err := consumer.Load(ctx, r, m)
	if err != nil {
		return err
	}
	if len(build.Problems) > 0 {
		report.Problems = append(report.Problems, build.Problems...)
		return nil
	}
	compiled := build.Modules(build.Offered())
	report.Figures = append(report.Figures, fmt.Sprintf("%s: %d of %d modules", m.Dir, len(compiled), budget.Modules))
	report.Problems = append(report.Problems, exceeded(m, build, compiled, budget)...)
	required, err := r.Requirements(ctx, m)
	if err != nil {
		return err
	}
	for _, problem := range budget.reasons(build, required) {
		report.Problems = append(report.Problems, m.Dir+"/"+FileName+": "+problem)
	}
	return nil
}

// exceeded tells of too many modules, with how each of them is reached since none of them is known to be the one too
// many, and of each that must not be there.
func exceeded(m repository.Module, build consumer.Build, compiled map[string]importgraph.Module, budget Budget) []string {
	var problems []string
	chain := func(module string) string { return strings.Join(build.Chain(build.Offered(), module), " -> ") }
	paths := slices.Sorted(maps.Keys(compiled))
	if len(paths) > budget.Modules {
		var text strings.Builder
		fmt.Fprintf(&text, "%s: its importers compile %d other modules, the budget is %d; they are reached so:", m.Dir, len(paths), budget.Modules)
		for _, path := range paths {
			fmt.Fprintf(&text, "\n    %s: %s", path, chain(path))
		}
		problems = append(problems, text.String())
	}
	for _, path := range paths {
		for _, never := range budget.Never {
			if path == never || strings.HasPrefix(path, strings.TrimSuffix(never, "/")+"/") {
				problems = append(problems, fmt.Sprintf("%s: its importers compile %s, never %s is promised: %s", m.Dir, path, never, chain(path)))
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
			problems = append(problems, need.Path+": not only tests use it; move its line before 'tests:'")
		case !b.Requirements[at].Tests && !build.Imports(need.Path):
			problems = append(problems, need.Path+": only tests use it; move its line behind 'tests:'")
		}
	}
	for _, line := range b.Requirements {
		if !direct[line.Path] {
			problems = append(problems, line.Path+": go.mod does not require it directly; remove the line")
		}
	}
	return problems
}
