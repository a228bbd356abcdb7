package repository

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Released gives the released modules so that each comes after those that it requires, and otherwise by their folders.
// It is an error that a released module requires one of the repository that isn't released, or that they require each
// other in a circle; all such errors are told.
func (r *Repository) Released() ([]Module, error) {
	if err := r.checkReleased(); err != nil {
		return nil, err
	}
	o := order{repository: r, state: map[string]int{}}
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

func (r *Repository) checkReleased() error {
	var problems []error
	for _, m := range r.Modules {
		if !m.Released {
			continue
		}
		for _, sibling := range r.Siblings(m) {
			if !sibling.Released {
				problems = append(problems, fmt.Errorf("module %s: requires %s, which isn't released: give %s a %s, or do without the requirement",
					m.Dir, sibling.Dir, sibling.Dir, ChangelogName))
			}
		}
		if m.Companion == "" {
			continue
		}
		if companion, found := r.Module(m.Companion); !found || !companion.Released {
			problems = append(problems, fmt.Errorf("module %s: its companion is %s, which is no released module of this repository", m.Dir, m.Companion))
		}
	}
	return errors.Join(problems...)
}

const (
	placing = 1
	placed  = 2
)

// order places modules after those that they require.
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

// Companions gives the paths of the modules that have the same version as the given one, itself included.
func (r *Repository) Companions(path string) []string {
	all := []string{path}
	for grown := true; grown; {
		grown = false
		for _, m := range r.Modules {
			if m.Companion == "" {
				continue
			}
			has, other := slices.Contains(all, m.Path), slices.Contains(all, m.Companion)
			if has && !other {
				all, grown = append(all, m.Companion), true
			}
			if other && !has {
				all, grown = append(all, m.Path), true
			}
		}
	}
	return all
}
