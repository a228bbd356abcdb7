package repository

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/module"

	"github.com/operkit/operkit/tools/check/process"
)

// Released returns the released modules, each after the modules that it requires, and otherwise sorted by folder. It
// returns an error if a released module requires a module of the repository that isn't released, if a module's path
// doesn't end with its folder, or if modules require each other in a circle.
func (r *Repository) Released() ([]Module, error) {
	var problems []error
	o := order{repository: r, state: map[string]int{}}
	for _, m := range r.Modules {
		if m.Released {
			problems = append(problems, r.checkReleased(m))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	for _, m := range r.Modules {
		if !m.Released {
			continue
		}
		if err := o.place(m, nil); err != nil {
			return nil, err
		}
	}
	return o.sorted, nil
}

func (r *Repository) checkReleased(m Module) error {
	var problems []error
	add := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	base, _, ok := module.SplitPathVersion(m.Path)
	if !ok || m.Dir != "." && base != m.Dir && !strings.HasSuffix(base, "/"+m.Dir) {
		add("%s/go.mod: the module path is %s: it must end with the name of its folder, %[1]s, because git tags of versions begin with this name", m.Dir, m.Path)
	}
	for _, sibling := range r.Siblings(m) {
		if !sibling.Released {
			add("module %s: requires %s, which isn't released: give %[2]s a %s, or remove the requirement", m.Dir, sibling.Dir, ChangelogFile)
		}
	}
	if companion, found := r.Module(m.Companion); m.Companion != "" && (!found || !companion.Released) {
		add("module %s: its companion is %s, which is no released module of this repository", m.Dir, m.Companion)
	}
	return errors.Join(problems...)
}

// Module returns the module with a path.
func (r *Repository) Module(path string) (Module, bool) {
	at := slices.IndexFunc(r.Modules, func(m Module) bool { return m.Path == path })
	if at < 0 {
		return Module{}, false
	}
	return r.Modules[at], true
}

// Ours reports whether a path is the path of a module of the repository.
func (r *Repository) Ours(path string) bool {
	_, found := r.Module(path)
	return found
}

// Siblings returns the modules of the repository that a module's go.mod requires, in the order of Modules.
func (r *Repository) Siblings(m Module) []Module {
	return slices.DeleteFunc(slices.Clone(r.Modules), func(other Module) bool {
		return !slices.ContainsFunc(m.Requires, func(need Requirement) bool { return need.Path == other.Path })
	})
}

// Nested returns the folders of the modules that lie inside of a module's folder.
func (r *Repository) Nested(m Module) []string {
	var folders []string
	for _, other := range r.Modules {
		if other.Dir != m.Dir && (m.Dir == "." || strings.HasPrefix(other.Dir, m.Dir+"/")) {
			folders = append(folders, other.Dir)
		}
	}
	return folders
}

const (
	placing = 1
	placed  = 2
)

// order sorts modules after the modules that they require.
type order struct {
	repository *Repository
	state      map[string]int // by the path of a module
	sorted     []Module
}

func (o *order) place(m Module, chain []string) error {
	chain = append(chain, m.Dir)
	switch o.state[m.Path] {
	case placed:
		return nil
	case placing:
		return fmt.Errorf("modules %s: they require each other, so none can be released before the other", strings.Join(chain, " -> "))
	}
	o.state[m.Path] = placing
	for _, sibling := range o.repository.Siblings(m) {
		if err := o.place(sibling, slices.Clone(chain)); err != nil {
			return err
		}
	}
	o.state[m.Path] = placed
	o.sorted = append(o.sorted, m)
	return nil
}

// Companions returns the paths of the modules that must always have the same version as the given module, because
// go.mod files declare them as companions, directly or through others. The given path is included.
func (r *Repository) Companions(path string) []string {
	all := []string{path}
	for at := 0; at < len(all); at++ {
		for _, m := range r.Modules {
			other := ""
			switch all[at] {
			case m.Path:
				other = m.Companion
			case m.Companion:
				other = m.Path
			}
			if other != "" && !slices.Contains(all, other) {
				all = append(all, other)
			}
		}
	}
	return all
}

// Membership compares go.work with the tree and finds each disagreement: a module that is missing in go.work, a module
// that must not be in it, an entry without a module, and a module path that does not follow from the module's folder.
func Membership(ctx context.Context, r *Repository, _ Options) (report Report, err error) {
	uses, err := r.uses(ctx)
	if err != nil {
		return report, err
	}
	add := func(format string, args ...any) {
		report.Problems = append(report.Problems, fmt.Sprintf(format, args...))
	}
	for _, m := range r.Modules {
		listed := slices.Contains(uses, m.Dir)
		if m.InWorkspace() && !listed {
			add("go.work: %s is missing: run go work use ./%[1]s", m.Dir)
		}
		if !m.InWorkspace() && listed {
			add("go.work: %s must not be in it, because its requirements would change the versions of all modules: run go work edit -dropuse=./%[1]s", m.Dir)
		}
		if want := path.Join(Prefix, m.Dir); m.Path != want {
			add("%s/go.mod: the module path is %s, but for its folder it must be %s", m.Dir, m.Path, want)
		}
	}
	for _, use := range uses {
		if !slices.ContainsFunc(r.Modules, func(m Module) bool { return m.Dir == use }) {
			add("go.work: %s is in it, but there is no such module", use)
		}
	}
	report.Summary = fmt.Sprintf("%d modules", len(r.Modules))
	return report, nil
}

// uses returns the folders that go.work holds, below the root and with slashes.
func (r *Repository) uses(ctx context.Context) ([]string, error) {
	type workspace struct{ Use []struct{ DiskPath string } }
	cmd := process.Command(ctx, r.Root, nil, "go", "work", "edit", "-json", filepath.Join(r.Root, "go.work"))
	file, err := process.One[workspace](ctx, cmd)
	var dirs []string
	for _, use := range file.Use {
		dirs = append(dirs, path.Clean(filepath.ToSlash(use.DiskPath)))
	}
	return dirs, err
}
