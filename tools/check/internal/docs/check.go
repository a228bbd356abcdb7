package docs

import (
	"context"
	"fmt"
	"go/token"
	"os"
	"slices"
	"strings"

	"github.com/operkit/operkit/tools/check/internal/gotest"
	"github.com/operkit/operkit/tools/check/internal/repository"
)

// Report is the outcome of a check.
type Report struct {
	// Problems holds a line for everything that is not documented.
	Problems []string
	// Identifiers counts the exported identifiers looked at, EntryPoints those among them that need an Example.
	Identifiers, EntryPoints int
}

// offers reports whether other people import packages of the module or run its programs, in contrast to what is there for
// this repository alone and for people to read.
func offers(m repository.Module) bool {
	return !slices.Contains([]string{"examples", "tools/bench", "tools/check", "tools/integration"}, m.Dir) &&
		!strings.HasPrefix(m.Dir, "tools/peers/")
}

// Check looks at the modules of the repository. Packages whose examples it has to know are compiled as for their tests, so
// that nothing is compiled when these ran before.
func Check(ctx context.Context, r *repository.Repository) (Report, error) {
	problems, err := changelogs(r)
	if err != nil {
		return Report{}, err
	}
	report := Report{Problems: problems}
	race, _, err := gotest.RaceDetector(ctx, os.Environ())
	if err != nil {
		return Report{}, err
	}
	files := token.NewFileSet()
	var workspace group
	for _, m := range r.Modules {
		sources, err := parse(r, m, files)
		if err != nil {
			return Report{}, err
		}
		report.Problems = appendText(report.Problems, readme(r, m))
		libraries := report.look(m, sources, files)
		if m.InWorkspace() {
			workspace.sources = append(workspace.sources, libraries...)
			continue
		}
		alone := group{dir: r.Folder(m), env: r.Environ(m), flags: m.BuildFlags(), race: race && m.Race(), sources: libraries}
		if err := report.exampled(ctx, alone, files); err != nil {
			return Report{}, fmt.Errorf("%s: %w", m.Dir, err)
		}
	}
	workspace.dir, workspace.env, workspace.race = r.Root, r.WorkspaceEnviron(), race
	return report, report.exampled(ctx, workspace, files)
}

// look checks the files of a module, and gives the packages of it that need examples.
func (report *Report) look(m repository.Module, sources []source, files *token.FileSet) []source {
	var libraries []source
	for _, s := range sources {
		report.Problems = appendText(report.Problems, s.packageComment())
		if !offers(m) || !s.importable() {
			continue
		}
		libraries = append(libraries, s)
		for _, id := range s.identifiers(files) {
			report.Identifiers++
			if !id.documented {
				report.Problems = append(report.Problems, id.place+": "+id.name+": no doc comment")
			}
		}
	}
	return libraries
}

// group is what is compiled by one call of the go command.
type group struct {
	dir        string
	env, flags []string
	race       bool
	sources    []source
}

// exampled holds the entry points of packages against the examples of their tests.
func (report *Report) exampled(ctx context.Context, g group, files *token.FileSet) error {
	if len(g.sources) == 0 {
		return nil
	}
	var paths []string
	for _, s := range g.sources {
		paths = append(paths, s.path())
	}
	all, err := g.compile(ctx, paths)
	if err != nil {
		return err
	}
	for _, s := range g.sources {
		entryPoints := s.entryPoints(files)
		report.EntryPoints += len(entryPoints)
		report.Problems = append(report.Problems, s.inside()...)
		test, err := all.test(s.path())
		if err != nil {
			report.Problems = append(report.Problems, fmt.Sprintf("%s: its tests do not compile: %v", s.dir, err))
			continue
		}
		found := examples(s.path(), test)
		for _, problem := range found.problems {
			report.Problems = append(report.Problems, s.dir+": "+problem)
		}
		report.Problems = append(report.Problems, found.missing(entryPoints)...)
	}
	return nil
}
