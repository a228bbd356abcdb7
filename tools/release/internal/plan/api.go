package plan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/operkit/operkit/tools/check/repository"
	"github.com/operkit/operkit/tools/release/internal/api"
	"github.com/operkit/operkit/tools/release/internal/git"
	"github.com/operkit/operkit/tools/release/internal/snapshot"
)

// API has the changes of the released modules' APIs since a revision.
type API struct {
	// Since is the revision.
	Since string `json:"since"`
	// Modules are the modules whose API has changed. New are the modules that the revision doesn't have.
	Modules []Module `json:"modules"`
	New     []string `json:"new,omitempty"`
}

// Since compares the APIs of the released modules in the tree with their APIs at a revision.
func Since(ctx context.Context, r *repository.Repository, revision string) (API, error) {
	if _, err := git.Dir(r.Root).Resolve(ctx, revision); err != nil {
		return API{}, errors.Join(fmt.Errorf("revision %q: git knows no such commit", revision), ctx.Err())
	}
	released, err := r.Released()
	if err != nil {
		return API{}, err
	}
	found := API{Since: revision}
	for _, m := range released {
		if err := found.add(ctx, r, m); err != nil {
			return API{}, err
		}
	}
	return found, nil
}

func (a *API) add(ctx context.Context, r *repository.Repository, m repository.Module) error {
	there, err := git.Dir(r.Root).Archive(ctx, a.Since, strings.TrimPrefix(m.Dir+"/go.mod", "./"))
	if err != nil {
		return err
	}
	if len(there) == 0 {
		a.New = append(a.New, m.Dir)
		return nil
	}
	before, err := snapshot.Revision(ctx, r, m, a.Since)
	if err != nil {
		return err
	}
	current, err := snapshot.Tree(ctx, r, m)
	if err != nil {
		return err
	}
	files, err := snapshot.Changed(before, current, r.Ours)
	if err != nil || !slices.ContainsFunc(files, isCode) {
		return err
	}
	difference, err := compare(ctx, r, m, a.Since)
	if len(difference.Breaking)+len(difference.Added) > 0 {
		a.Modules = append(a.Modules, Module{Module: m.Dir, Path: m.Path, Change: difference.Change(), Breaking: difference.Breaking, Added: difference.Added})
	}
	return err
}

// Write prints the changes for people.
func (a API) Write(out io.Writer) error {
	var text strings.Builder
	fmt.Fprintf(&text, "APIs since %s", a.Since)
	if len(a.Modules)+len(a.New) == 0 {
		text.WriteString(": no change.\n")
	} else {
		text.WriteString(" (- breaks callers, + is new):\n")
	}
	writeChanges(&text, a.Modules)
	for _, name := range a.New {
		fmt.Fprintf(&text, "  %s\n    + the module\n", name)
	}
	_, err := io.WriteString(out, text.String())
	return err
}

// compare compares the API of a module in the tree with its API at a revision. Each of the two is built with the
// sibling modules of the same state.
func compare(ctx context.Context, r *repository.Repository, m repository.Module, revision string) (api.Difference, error) {
	temporary, err := os.MkdirTemp("", "release-plan-")
	if err != nil {
		return api.Difference{}, err
	}
	defer func() { _ = os.RemoveAll(temporary) }() // in the folder for temporary files
	// Read all files: the revision may have siblings that don't exist any more.
	files, err := git.Dir(r.Root).Archive(ctx, revision)
	if err != nil {
		return api.Difference{}, err
	}
	name := strings.TrimPrefix(m.Dir+"/go.mod", "./")
	if files[name], err = withSiblings(m, files); err != nil {
		return api.Difference{}, err
	}
	if err := snapshot.Files(files).Write(temporary); err != nil {
		return api.Difference{}, err
	}
	return api.Compare(ctx, m.Path, filepath.Join(temporary, filepath.FromSlash(m.Dir)), r.Folder(m))
}

// withSiblings returns a module's go.mod, changed so that it takes siblings from their folders in the same revision.
func withSiblings(m repository.Module, files map[string][]byte) ([]byte, error) {
	name := strings.TrimPrefix(m.Dir+"/go.mod", "./")
	file, err := modfile.Parse(name, files[name], nil)
	if err != nil {
		return nil, err
	}
	for _, other := range slices.Sorted(maps.Keys(files)) {
		sibling := modfile.ModulePath(files[other])
		if path.Base(other) != "go.mod" || other == name || sibling == "" || slices.Contains(strings.Split(other, "/"), "testdata") {
			continue
		}
		way, err := filepath.Rel(filepath.FromSlash(m.Dir), filepath.FromSlash(path.Dir(other)))
		if err != nil {
			return nil, err
		}
		if way = filepath.ToSlash(way); !strings.HasPrefix(way, "../") && way != ".." {
			way = "./" + way
		}
		if err := file.AddReplace(sibling, "", way, ""); err != nil {
			return nil, err
		}
	}
	return file.Format()
}
