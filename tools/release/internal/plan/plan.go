package plan

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/semver"

	"github.com/operkit/operkit/tools/check/repository"
	"github.com/operkit/operkit/tools/release/internal/changelog"
	"github.com/operkit/operkit/tools/release/internal/git"
	"github.com/operkit/operkit/tools/release/internal/snapshot"
	"github.com/operkit/operkit/tools/release/internal/version"
)

// Plan describes a release.
type Plan struct {
	// Day is the day for the changelogs. Commit is the commit of HEAD.
	Day    time.Time `json:"day"`
	Commit string    `json:"commit"`
	// Modules are the modules to release, each after the modules that it requires.
	Modules []Module `json:"modules"`
	// Kept are the versions of the other released modules, which get no new version, by module path.
	Kept map[string]string `json:"kept"`
}

// Module is a module that the plan releases.
type Module struct {
	// Module is its folder, Path its module path.
	Module string `json:"module"`
	Path   string `json:"path"`
	// Last is its latest version, or "" if it has none. Next is its new version, and Tag the tag of that version.
	Last string `json:"last"`
	Next string `json:"next"`
	Tag  string `json:"tag"`
	// Change is the greatest change. Reasons are the reasons for the release, the most important first.
	Change  version.Change `json:"change"`
	Reasons []string       `json:"reasons"`
	// Breaking and Added are the changes of its API. Files are the files that have changed.
	Breaking []string `json:"breaking,omitempty"`
	Added    []string `json:"added,omitempty"`
	Files    []string `json:"files,omitempty"`
	// Changelog is the text of the version's section in its changelog.
	Changelog string `json:"changelog"`
}

// Make compares every released module with its last tag. A module gets a new version if one of these is true: it has no
// tag; it has changed since its last tag; its changelog has text under Unreleased; a module that it requires gets a new
// version, which changes its go.mod; its companion gets a new version.
func Make(ctx context.Context, r *repository.Repository, day time.Time) (Plan, error) {
	released, err := r.Released()
	if err != nil {
		return Plan{}, err
	}
	head, err := git.Dir(r.Root).Resolve(ctx, "HEAD")
	if err != nil {
		return Plan{}, fmt.Errorf("the repository has no commit: %w", err)
	}
	tags, err := git.Dir(r.Root).Tags(ctx)
	if err != nil {
		return Plan{}, err
	}
	p := planner{repository: r, released: released, found: map[string]*finding{}, day: day, head: head}
	for _, m := range released {
		last := version.Latest(m.Path, m.Tag(""), tags)
		if p.found[m.Path], err = p.look(ctx, m, last); err != nil {
			return Plan{}, err
		}
	}
	p.spread()
	if err := p.number(); err != nil {
		return Plan{}, err
	}
	return p.plan(ctx)
}

// planner makes a plan step by step.
type planner struct {
	repository *repository.Repository
	released   []repository.Module
	found      map[string]*finding // by module paths
	day        time.Time
	head       string
}

// finding is what the planner has found out about a module.
type finding struct {
	last, next      string
	change          version.Change
	files           []string
	breaking, added []string
	unreleased      string
}

// spread marks modules that are released because other modules are released.
func (p *planner) spread() {
	for changed := true; changed; {
		changed = false
		for _, m := range p.released {
			if p.found[m.Path].change == version.None && slices.ContainsFunc(p.causes(m), p.moves) {
				p.found[m.Path].change, changed = version.Fixed, true
			}
		}
	}
}

// causes returns the modules whose release makes a release of m necessary.
func (p *planner) causes(m repository.Module) []string {
	causes := p.repository.Companions(m.Path)
	for _, need := range m.Requires {
		causes = append(causes, need.Path)
	}
	return causes
}

// moves reports whether the plan releases the module with this path. It returns false for modules of other
// repositories.
func (p *planner) moves(path string) bool {
	f, ours := p.found[path]
	return ours && f.change != version.None
}

// number assigns new versions to the modules that the plan releases.
func (p *planner) number() error {
	for _, m := range p.released {
		f := p.found[m.Path]
		var err error
		switch {
		case f.change == version.None:
		case f.last == "":
			f.next = version.First(m.Path)
		default:
			f.next, err = version.Next(m.Path, f.last, f.change)
		}
		if err != nil {
			return err
		}
	}
	for _, m := range p.released {
		for _, companion := range p.repository.Companions(m.Path) {
			f := p.found[companion]
			f.next = slices.MaxFunc([]string{f.next, p.found[m.Path].next}, semver.Compare)
		}
	}
	return nil
}

func (p *planner) plan(ctx context.Context) (Plan, error) {
	made := Plan{Day: p.day, Commit: p.head, Modules: []Module{}, Kept: map[string]string{}}
	for _, m := range p.released {
		f := p.found[m.Path]
		if f.change == version.None {
			made.Kept[m.Path] = f.last
			continue
		}
		text, err := p.changelog(ctx, m)
		if err != nil {
			return Plan{}, fmt.Errorf("module %s: %w", m.Dir, err)
		}
		made.Modules = append(made.Modules, Module{
			Module: m.Dir, Path: m.Path, Last: f.last, Next: f.next, Tag: m.Tag(f.next),
			Change: f.change, Reasons: p.reasons(m), Breaking: f.breaking, Added: f.added, Files: f.files, Changelog: text,
		})
	}
	return made, nil
}

// look finds out what has changed in a module since its last version.
func (p *planner) look(ctx context.Context, m repository.Module, last string) (*finding, error) {
	current, err := snapshot.Tree(ctx, p.repository, m)
	if err != nil {
		return nil, err
	}
	f := &finding{last: last, unreleased: changelog.Unreleased(string(current[repository.ChangelogFile]))}
	if last == "" {
		f.change = version.Added
		return f, nil
	}
	before, err := snapshot.Revision(ctx, p.repository, m, tagOf(m, last))
	if err != nil {
		return nil, err
	}
	if f.files, err = snapshot.Changed(before, current, p.repository.Ours); err != nil {
		return nil, fmt.Errorf("module %s: %w", m.Dir, err)
	}
	if f.unreleased == changelog.Unreleased(string(before[repository.ChangelogFile])) {
		f.unreleased = "" // the last version was released with this text already
	}
	f.change = changelog.Change(f.unreleased)
	if len(f.files) > 0 {
		f.change = max(f.change, version.Fixed)
	}
	if !slices.ContainsFunc(f.files, isCode) {
		return f, nil
	}
	difference, err := compare(ctx, p.repository, m, tagOf(m, last))
	f.breaking, f.added = difference.Breaking, difference.Added
	f.change = max(f.change, difference.Change())
	return f, err
}

func tagOf(m repository.Module, version string) string { return "refs/tags/" + m.Tag(version) }

// isCode reports whether a file may change the API of a module.
func isCode(name string) bool { return strings.HasSuffix(name, ".go") || name == "go.mod" }
