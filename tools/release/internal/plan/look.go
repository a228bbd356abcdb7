package plan

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/operkit/operkit/tools/release/internal/api"
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
	difference, err := p.compare(ctx, m, last)
	f.breaking, f.added = difference.Breaking, difference.Added
	f.change = max(f.change, difference.Change())
	return f, err
}

func tagOf(m repository.Module, version string) string { return "refs/tags/" + m.Tag(version) }

// isCode tells whether a file may change what a module offers.
func isCode(name string) bool { return strings.HasSuffix(name, ".go") || name == "go.mod" }

// compare compares the API of a module in the tree with that of a version. Siblings are taken from their folders, on both
// sides: from the moment of the version, they are those that it was made with.
func (p *planner) compare(ctx context.Context, m repository.Module, last string) (api.Difference, error) {
	temporary, err := os.MkdirTemp("", "release-plan-")
	if err != nil {
		return api.Difference{}, err
	}
	defer func() { _ = os.RemoveAll(temporary) }() // in the folder for temporary files
	folders := make([]string, len(p.repository.Modules))
	for i, other := range p.repository.Modules {
		folders[i] = other.Dir
	}
	files, err := p.repository.Git().Archive(ctx, tagOf(m, last), folders...)
	if err != nil {
		return api.Difference{}, err
	}
	name := strings.TrimPrefix(m.Dir+"/go.mod", "./")
	if files[name], err = p.withSiblings(m, files[name]); err != nil {
		return api.Difference{}, err
	}
	if err := snapshot.Files(files).Write(temporary); err != nil {
		return api.Difference{}, err
	}
	return api.Compare(ctx, m.Path, filepath.Join(temporary, filepath.FromSlash(m.Dir)), p.repository.Folder(m))
}

// withSiblings gives a go.mod that takes siblings from their folders.
func (p *planner) withSiblings(m repository.Module, text []byte) ([]byte, error) {
	file, err := modfile.Parse(m.Dir+"/go.mod", text, nil)
	if err != nil {
		return nil, err
	}
	for _, other := range p.repository.Modules {
		if other.Path == m.Path {
			continue
		}
		way, err := filepath.Rel(filepath.FromSlash(m.Dir), filepath.FromSlash(other.Dir))
		if err != nil {
			return nil, err
		}
		if way = filepath.ToSlash(way); !strings.HasPrefix(way, "../") && way != ".." {
			way = "./" + way
		}
		if err := file.AddReplace(other.Path, "", way, ""); err != nil {
			return nil, err
		}
	}
	return file.Format()
}
