package update

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/operkit/operkit/tools/operkit/internal/project"
)

// The outcomes for a file, besides those of package project.
const (
	Updated  project.Outcome = "updated"
	Merged   project.Outcome = "merged"
	Conflict project.Outcome = "conflict"
	Removed  project.Outcome = "removed"
	// Skipped means that the project doesn't get what the scaffold has, because a person has deleted files.
	Skipped project.Outcome = "skipped"
)

// Change is a change of a file of the project.
type Change struct {
	// Path is the path below the root, with slashes.
	Path    string
	Outcome project.Outcome
	// From is the former path of a file that the scaffold has moved, or empty.
	From string
	// Why is the reason of a file that is kept or skipped.
	Why string
	// text is the new text. It is nil if the file is removed or stays as it is.
	text []byte
}

// Merge returns the changes that bring the project in root from the scaffold base to the scaffold next, in the order of
// their paths. labels name base and next in conflict markers. A file that the project has deleted stays deleted, and
// gets no new files beside it that belong to it.
func Merge(ctx context.Context, root string, base, next []project.File, labels [2]string) ([]Change, error) {
	m := merge{ctx: ctx, root: root, labels: labels, base: texts(base), next: texts(next)}
	moved, err := m.moved()
	if err != nil {
		return nil, err
	}
	var changes []Change
	for _, path := range paths(m.base, m.next) {
		from, is := moved[path]
		if !is {
			from = path
		}
		if _, left := m.next[path]; !left && isValue(moved, path) {
			continue // it is handled under its new path
		}
		change, err := m.file(from, path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if change.Outcome != project.Same {
			changes = append(changes, change)
		}
	}
	return changes, nil
}

// merge has the texts of a merge by their paths.
type merge struct {
	ctx        context.Context
	root       string
	labels     [2]string
	base, next map[string][]byte
}

// file returns the change of one file, which is at from in the base and in the project, and at path in the next
// scaffold.
func (m merge) file(from, path string) (Change, error) {
	ours, there, err := read(m.root, from)
	if err != nil {
		return Change{}, err
	}
	change := Change{Path: path, Outcome: project.Same}
	if from != path {
		change.From = from
	}
	base, based := m.base[from]
	next, wanted := m.next[path]
	switch {
	case based && !there && wanted && !bytes.Equal(base, next):
		return Change{Path: path, Outcome: Skipped, Why: "you have deleted it, and operkit has changed it"}, nil
	case based && !there: // deleted by a person
	case based && !wanted && bytes.Equal(ours, base):
		change.Outcome = Removed
	case based && !wanted:
		change.Outcome = project.Kept
		change.Why = "operkit doesn't write it any more, but you have edited it: delete it if you don't need it"
	case !there:
		return m.created(path)
	case from == path && (bytes.Equal(ours, next) || based && bytes.Equal(base, next)):
	case bytes.Equal(ours, base):
		change.Outcome, change.text = Updated, next
	default:
		merged, conflict, err := mergeFile(m.ctx, ours, base, next, m.labels)
		if errors.Is(err, errBinary) {
			return Change{Path: from, Outcome: project.Kept, Why: "git can't merge it, because it isn't text: operkit has changed it, too"}, nil
		}
		if err != nil {
			return Change{}, err
		}
		switch {
		case conflict:
			change.Outcome, change.text = Conflict, merged
		case from != path || !bytes.Equal(merged, ours):
			change.Outcome, change.text = Merged, merged
		}
	}
	return change, nil
}

// created returns the change for a new file.
func (m merge) created(path string) (Change, error) {
	gone, err := m.gone(path)
	if gone {
		return Change{Path: path, Outcome: Skipped, Why: "it is new, and belongs to files that you have deleted"}, err
	}
	return Change{Path: path, Outcome: project.Created, text: m.next[path]}, err
}

// Apply writes the change below root.
func (c Change) Apply(root string) error {
	path := filepath.Join(root, filepath.FromSlash(c.Path))
	if c.text != nil {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			err = project.Create(root, []project.File{{Path: c.Path, Text: c.text}})
			if err != nil {
				return err
			}
		} else if err := project.Replace(path, c.text); err != nil {
			return err
		}
	}
	switch {
	case c.Outcome == Removed:
		return os.Remove(path)
	case c.From != "":
		return os.Remove(filepath.Join(root, filepath.FromSlash(c.From)))
	}
	return nil
}

// read returns the text of a file of the project, if it exists.
func read(root, path string) (text []byte, there bool, err error) {
	text, err = os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	return text, err == nil, err
}
