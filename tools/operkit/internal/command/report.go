package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/operkit/operkit/tools/operkit/internal/manifest"
	"github.com/operkit/operkit/tools/operkit/internal/project"
	"github.com/operkit/operkit/tools/operkit/internal/record"
	"github.com/operkit/operkit/tools/operkit/internal/source"
)

// addition writes to a project, reports the outcome for each file, and collects what the user has to add by hand.
type addition struct {
	*program
	project *project.Project
	// recorded is the record of the project, or nil if it has none.
	recorded *record.Record
	byHand   []string
	// changed means that something was created or edited.
	changed bool
}

// addition reads the record of a project, before anything is written.
func (p *program) addition(opened *project.Project) (*addition, error) {
	a := &addition{program: p, project: opened}
	recorded, err := record.Read(opened.Root, p.version)
	switch {
	case err == nil:
		a.recorded = &recorded
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: %w", opened.Root, err)
	}
	return a, nil
}

// report prints the outcome for a file.
func (a *addition) report(file string, outcome project.Outcome) {
	a.changed = a.changed || outcome == project.Created || outcome == project.Edited
	line := fmt.Sprintf("%-9s %s", outcome, file)
	if outcome == project.Kept {
		line += ": its content differs from what this command would write"
	}
	a.say("%s", line)
}

// keep writes the files that don't exist yet.
func (a *addition) keep(files ...project.File) error {
	for _, file := range files {
		outcome, err := project.Keep(a.project.Root, file)
		if err != nil {
			return err
		}
		a.report(file.Path, outcome)
	}
	return nil
}

// tell prints which of the files exist already. It writes no files.
func (a *addition) tell(files ...project.File) error {
	for _, file := range files {
		_, err := os.Stat(a.path(file.Path))
		switch {
		case err == nil:
			a.report(file.Path, project.Same)
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	return nil
}

// has reports whether the project has a file or folder.
func (a *addition) has(file string) bool {
	_, err := os.Stat(a.path(file))
	return err == nil
}

func (a *addition) path(file string) string {
	return filepath.Join(a.project.Root, filepath.FromSlash(file))
}

// edit calls change to add lines to a file. If the file has no known place for them, or doesn't exist, edit records
// byHand as the text that the user has to add.
func (a *addition) edit(file, byHand string, change func(text []byte) (changed []byte, edited bool, err error)) error {
	text, err := os.ReadFile(a.path(file))
	if errors.Is(err, fs.ErrNotExist) {
		a.leave(file, byHand)
		return nil
	}
	if err != nil {
		return err
	}
	changed, edited, err := change(text)
	switch {
	case errors.Is(err, source.ErrNoPlace) || errors.Is(err, manifest.ErrNoPlace):
		a.leave(file, byHand)
		return nil
	case err != nil:
		return fmt.Errorf("%s: %w", file, err)
	case !edited:
		a.report(file, project.Same)
		return nil
	}
	if err := project.Replace(a.path(file), changed); err != nil {
		return err
	}
	a.report(file, project.Edited)
	return nil
}

// leave records a text that the user has to add to a file.
func (a *addition) leave(file, what string) {
	a.byHand = append(a.byHand, file+"\n    "+strings.ReplaceAll(strings.TrimRight(what, "\n"), "\n", "\n    "))
}

// rules adds the rules to the operator's role.
func (a *addition) rules(rules []manifest.Rule) error {
	var text strings.Builder
	for _, rule := range rules {
		text.WriteString(rule.YAML("  "))
	}
	return a.edit(project.RoleFile, text.String(), func(role []byte) ([]byte, bool, error) { return manifest.AddRules(role, rules...) })
}

// tidy runs `go mod tidy` if the project has imported no apply configurations until now.
func (p *program) tidy(ctx context.Context, opened *project.Project) error {
	if !opened.Untidy() {
		return nil
	}
	tidy := goCommand{"mod", "tidy"}
	p.say("%s", tidy)
	if err := tidy.run(ctx, opened.Root, p.stderr, "GOWORK=off"); err != nil {
		return fmt.Errorf("%w\nThe files are written. Fix the problem, then run:\n  %s", err, inFolder(opened.Root, []goCommand{tidy}))
	}
	return nil
}

// remember adds what was written to the record of the project, if it has one.
func (a *addition) remember(add func(*record.Record)) error {
	if a.recorded == nil {
		return nil
	}
	add(a.recorded)
	_, err := a.recorded.Write(a.project.Root)
	return err
}

// end prints what the user has to add by hand.
func (a *addition) end() {
	if len(a.byHand) > 0 {
		a.say("\nAdd this by hand, because operkit didn't find the place for it:\n  %s", strings.Join(a.byHand, "\n  "))
	}
}
