package plan

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/operkit/operkit/tools/release/internal/changelog"
	"github.com/operkit/operkit/tools/release/internal/repository"
	"github.com/operkit/operkit/tools/release/internal/snapshot"
	"github.com/operkit/operkit/tools/release/internal/version"
)

// look finds out what has changed in a module since its last version.
func (p *planner) look(ctx context.Context, m repository.Module, last string) (*finding, error) {
	current, err := snapshot.Tree(ctx, p.repository, m)
	if err != nil {
		return nil, err
	}
	f := &finding{last: last, unreleased: changelog.Unreleased(string(current[repository.ChangelogName]))}
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
	if f.unreleased == changelog.Unreleased(string(before[repository.ChangelogName])) {
		f.unreleased = "" // it was told with the last version
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

// isCode tells whether a file may change what a module offers.
func isCode(name string) bool { return strings.HasSuffix(name, ".go") || name == "go.mod" }
