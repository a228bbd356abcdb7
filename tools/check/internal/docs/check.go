package docs

import (
	"context"
	"errors"
	"fmt"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/operkit/operkit/tools/check/internal/gotest"
	"github.com/operkit/operkit/tools/check/repository"
)

// offers reports whether others import packages of the module or run its programs. It returns false for modules that
// only this repository uses, and for examples.
func offers(m repository.Module) bool {
	return !slices.Contains([]string{"examples", "tools/bench", "tools/check", "tools/integration"}, m.Dir) &&
		!strings.HasPrefix(m.Dir, "tools/peers/")
}

// checking is one run of the check.
type checking struct {
	repository.Report
	fields, entryPoints int // how many were checked
	files               *token.FileSet
}

// Check checks the documentation of all modules of the repository. It compiles packages with the same flags as their
// tests, so that nothing is compiled again if the tests ran before.
func Check(ctx context.Context, r *repository.Repository, _ repository.Options) (repository.Report, error) {
	race, _, err := gotest.RaceDetector(ctx, os.Environ())
	if err != nil {
		return repository.Report{}, err
	}
	c := &checking{files: token.NewFileSet()}
	c.changelogs(r)
	workspace := group{dir: r.Root, env: r.WorkspaceEnviron(), flags: repository.Module{}.BuildFlags(race)}
	for _, m := range r.Modules {
		sources, err := parse(r, m, c.files)
		if err != nil {
			return c.Report, err
		}
		c.wantFile(r, m, "README.md", "")
		libraries := c.look(m, sources)
		if m.InWorkspace() {
			workspace.sources = append(workspace.sources, libraries...)
			continue
		}
		alone := group{dir: r.Folder(m), env: r.Environ(m), flags: m.BuildFlags(race), sources: libraries}
		if err := c.exampled(ctx, alone); err != nil {
			return c.Report, fmt.Errorf("%s: %w", m.Dir, err)
		}
	}
	err = c.exampled(ctx, workspace)
	c.Summary = fmt.Sprintf("%d functions, fields and methods, %d entry points", c.fields, c.entryPoints)
	return c.Report, err
}

func (c *checking) add(format string, args ...any) {
	c.Problems = append(c.Problems, fmt.Sprintf(format, args...))
}

// look checks the files of a module, and returns its packages that need examples.
func (c *checking) look(m repository.Module, sources []source) (libraries []source) {
	for _, s := range sources {
		if !s.hasComment() {
			c.add("%s/doc.go: it has no package comment, or is missing", s.dir)
		}
		if !offers(m) || !s.importable() {
			continue
		}
		libraries = append(libraries, s)
		for _, id := range s.identifiers(c.files) {
			if id.entryPoint {
				c.entryPoints++
			}
			if id.member {
				c.fields++
			}
			if id.member && !id.documented {
				c.add("%s: %s: no doc comment", id.place, id.name)
			}
		}
	}
	return libraries
}

// group has the packages that one call of the go command compiles.
type group struct {
	dir        string
	env, flags []string
	sources    []source
}

// exampled compares the entry points of packages with the examples of their tests.
func (c *checking) exampled(ctx context.Context, g group) error {
	if len(g.sources) == 0 {
		return nil
	}
	var paths []string
	for _, s := range g.sources {
		paths = append(paths, s.path())
	}
	tests, err := g.tests(ctx, paths)
	if err != nil {
		return err
	}
	for _, s := range g.sources {
		c.inside(s)
		test := tests[s.path()]
		if test != nil && len(test.Errors) > 0 {
			c.add("%s: its tests do not compile: %v", s.dir, test.Errors[0])
			continue
		}
		shown := c.examples(s, test)
		for _, id := range s.identifiers(c.files) {
			if id.entryPoint && !shown[id.name] {
				c.add("%s: %s: no Example with output is named for it or uses it", id.place, id.name)
			}
		}
	}
	return nil
}

// hasComment reports whether a package has a package comment in its doc.go. A program may have the comment in any file.
func (s source) hasComment() bool {
	for _, f := range s.files {
		if f.Doc.Text() != "" && (s.name == "main" || path.Base(f.name) == "doc.go") {
			return true
		}
	}
	return false
}

// rows finds the rows of the table of modules in the top README.
var rows = regexp.MustCompile(`(?m)^\| \[[^\]]+\]\(([^)]+)\) \|`)

// changelogs finds each module in the table of the top README that has no changelog.
func (c *checking) changelogs(r *repository.Repository) {
	text, err := os.ReadFile(filepath.Join(r.Root, "README.md"))
	if errors.Is(err, fs.ErrNotExist) {
		c.add("README.md: it is missing")
	}
	for _, row := range rows.FindAllStringSubmatch(string(text), -1) {
		for _, m := range r.Modules {
			if m.Dir == strings.Trim(row[1], "/") {
				c.wantFile(r, m, repository.ChangelogFile, ", though the top README offers the module")
			}
		}
	}
}

// wantFile adds a problem if a file of a module is missing.
func (c *checking) wantFile(r *repository.Repository, m repository.Module, name, why string) {
	if info, err := os.Stat(filepath.Join(r.Folder(m), name)); err != nil || !info.Mode().IsRegular() {
		c.add("%s/%s: it is missing%s", m.Dir, name, why)
	}
}
