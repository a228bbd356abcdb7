package repository

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"slices"
)

// Membership compares go.work with the tree and gives one line for each disagreement: a module that is missing in
// go.work, one that must not be there, an entry without a module, and a module path that does not follow its folder.
func (r *Repository) Membership(ctx context.Context) ([]string, error) {
	uses, err := r.uses(ctx)
	if err != nil {
		return nil, err
	}
	var problems []string
	for _, m := range r.Modules {
		listed := slices.Contains(uses, m.Dir)
		if m.InWorkspace() && !listed {
			problems = append(problems, fmt.Sprintf("go.work: %s is missing; run go work use ./%s", m.Dir, m.Dir))
		}
		if !m.InWorkspace() && listed {
			problems = append(problems, fmt.Sprintf(
				"go.work: %s must not be in it, its requirements would reach every module; run go work edit -dropuse=./%s", m.Dir, m.Dir))
		}
		if want := path.Join(Prefix, m.Dir); m.Path != want {
			problems = append(problems, fmt.Sprintf("%s/go.mod: the module path is %s, its folder asks for %s", m.Dir, m.Path, want))
		}
	}
	for _, use := range uses {
		if !slices.ContainsFunc(r.Modules, func(m Module) bool { return m.Dir == use }) {
			problems = append(problems, fmt.Sprintf("go.work: %s is in it, but there is no such module", use))
		}
	}
	return problems, nil
}

// uses gives the folders that go.work holds, below the root and with slashes.
func (r *Repository) uses(ctx context.Context) ([]string, error) {
	out, err := output(ctx, r.Root, "go", "work", "edit", "-json", filepath.Join(r.Root, "go.work"))
	if err != nil {
		return nil, err
	}
	var work struct{ Use []struct{ DiskPath string } }
	if err := json.Unmarshal(out, &work); err != nil {
		return nil, fmt.Errorf("go.work: %w", err)
	}
	dirs := make([]string, 0, len(work.Use))
	for _, use := range work.Use {
		dirs = append(dirs, path.Clean(filepath.ToSlash(use.DiskPath)))
	}
	return dirs, nil
}
