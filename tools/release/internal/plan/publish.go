package plan

import (
	"context"

	"github.com/operkit/operkit/tools/release/internal/changelog"
	"github.com/operkit/operkit/tools/release/internal/publication"
	"github.com/operkit/operkit/tools/release/internal/repository"
	"github.com/operkit/operkit/tools/release/internal/snapshot"
)

// Publish makes all released modules as they are once the plan is carried out: those of the plan from the working tree,
// with their changelogs, and the others as they were tagged.
func (p Plan) Publish(ctx context.Context, r *repository.Repository) ([]publication.Module, error) {
	return publication.Make(ctx, r, func(ctx context.Context, m repository.Module) (publication.Draft, error) {
		if kept, is := p.Kept[m.Path]; is {
			files, err := snapshot.Revision(ctx, r, m, tagOf(m, kept))
			return publication.Draft{Version: kept, Files: files, Final: true}, err
		}
		files, err := snapshot.Tree(ctx, r, m)
		if err != nil {
			return publication.Draft{}, err
		}
		for _, planned := range p.Modules {
			if planned.Path == m.Path {
				text := changelog.Release(string(files[repository.ChangelogName]), planned.Next, p.Day, planned.Changelog)
				files[repository.ChangelogName] = []byte(text)
				return publication.Draft{Version: planned.Next, Files: files}, nil
			}
		}
		return publication.Draft{}, &StaleError{Module: m.Dir}
	})
}

// StaleError says that the repository has a released module of which the plan knows nothing.
type StaleError struct{ Module string }

// Error names the module.
func (e *StaleError) Error() string {
	return "module " + e.Module + ": the plan doesn't know it: make the plan again"
}
