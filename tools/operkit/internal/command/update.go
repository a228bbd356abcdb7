package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/operkit/operkit/tools/operkit/internal/project"
	"github.com/operkit/operkit/tools/operkit/internal/record"
	"github.com/operkit/operkit/tools/operkit/internal/update"
	"github.com/spf13/cobra"
)

const updateHelp = `update brings the files that operkit has written to the state in which this version of operkit
would write them. Your edits stay: it is a three-way merge, between the file as operkit wrote it
(recorded in .operkit), your file, and the file of today. New files are created, files that you
have deleted stay deleted, and files that operkit doesn't write any more are removed, unless you
have edited them. Where you and operkit have changed the same lines, the file gets conflict markers
for you to resolve, and the exit code is 1.

Everything must be committed to git before. So you can look at what update has changed and created:
  git add -A . && git diff --cached .
and take it back:
  ` + undo + `
Then update runs the go command to require the modules that belong to this version.

Generated files (deep copies, definitions, testdata) aren't merged: run 'make generate golden'.`

const updateExamples = `  go run github.com/operkit/operkit/tools/operkit@latest update
  git add -A . && git diff --cached .`

// undo takes an update back: the files that it has created, too, and nothing outside of the project.
const undo = "git add -A . && git restore --staged --worktree ."

// shownFiles is how many uncommitted files an error lists.
const shownFiles = 5

func (p *program) update() *cobra.Command {
	var dir string
	var noTidy bool
	cmd := &cobra.Command{
		Use:                   "update [flags]",
		SuggestFor:            []string{"upgrade", "merge", "migrate"},
		Short:                 "Merge what this version of operkit writes into an operator",
		Long:                  updateHelp,
		Example:               updateExamples,
		DisableFlagsInUseLine: true,
		Args:                  none,
		RunE:                  func(cmd *cobra.Command, _ []string) error { return p.merge(cmd.Context(), dir, noTidy) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&dir, "dir", ".", "`FOLDER` of the operator")
	flags.BoolVar(&noTidy, "no-tidy", false, "only write files: don't run the go command, which fetches modules")
	return cmd
}

func (p *program) merge(ctx context.Context, dir string, noTidy bool) error {
	opened, err := project.Open(dir)
	if err != nil {
		return usage(err)
	}
	recorded, err := p.recorded(ctx, opened)
	if err != nil {
		return usage(err)
	}
	next, err := recorded.Answers.Files(opened.Module, p.versions)
	if err != nil {
		return err
	}
	changes, err := update.Merge(ctx, opened.Root, recorded.Base, next, [2]string{"operkit " + recorded.Operkit, "operkit " + p.version})
	if err != nil {
		return err
	}
	conflicts, err := p.apply(opened, changes)
	if err != nil {
		return halfway(opened.Root, err)
	}
	recorded.Operkit, recorded.Base = p.version, next
	changed, err := recorded.Write(opened.Root)
	if err != nil {
		return halfway(opened.Root, err)
	}
	outdated := opened.Outdated(p.versions)
	if !changed && len(changes) == 0 && len(outdated) == 0 {
		p.say("everything is up to date")
		return nil
	}
	commands := []goCommand{{"mod", "tidy"}}
	if len(outdated) > 0 {
		commands = []goCommand{append(goCommand{"get"}, outdated...), {"mod", "tidy"}}
	}
	return p.finish(ctx, opened.Root, commands, conflicts, noTidy)
}

// halfway adds to an error how to go back to where the update began.
func halfway(root string, err error) error {
	return fmt.Errorf("%w\nThe update has stopped halfway. To go back, run:\n  cd %s && %s", err, root, undo)
}

// recorded returns the record of a project, if the project is in a state to be updated.
func (p *program) recorded(ctx context.Context, opened *project.Project) (record.Record, error) {
	recorded, err := record.Read(opened.Root, p.version)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return recorded, fmt.Errorf("%s: has no record of what operkit has written (%s and %s): restore them from git if they were deleted; "+
			"projects without them can't be updated", opened.Root, record.AnswersFile, record.BaseFile)
	case err != nil:
		return recorded, fmt.Errorf("%s: %w", opened.Root, err)
	}
	return recorded, p.committed(ctx, opened.Root)
}

// committed returns an error unless git has the project as it is, so that the update can be seen and taken back.
func (p *program) committed(ctx context.Context, root string) error {
	files, err := update.Uncommitted(ctx, root)
	switch {
	case errors.Is(err, update.ErrNoRepository):
		return fmt.Errorf("%s: %w: run 'git init && git add . && git commit -m \"before the update\"' there, so that you can see and undo what the update changes",
			root, err)
	case err != nil:
		return err
	case len(files) > shownFiles:
		files = append(files[:shownFiles], fmt.Sprintf("%d more", len(files)-shownFiles))
	}
	if len(files) > 0 {
		return fmt.Errorf("%s: has changes that aren't committed: %s: commit them, or run 'git stash --include-untracked', so that you can see and undo what the update changes",
			root, strings.Join(files, ", "))
	}
	tracked, err := update.Tracked(ctx, root, record.BaseFile)
	if err == nil && !tracked {
		err = fmt.Errorf("%s: git ignores it: take it out of .gitignore, or run 'git init' there, and commit it, so that you can see and undo what the update changes", root)
	}
	return err
}

// apply writes and reports the changes, and returns the files that have conflicts.
func (p *program) apply(opened *project.Project, changes []update.Change) (conflicts []string, err error) {
	for _, change := range changes {
		if err := change.Apply(opened.Root); err != nil {
			return nil, err
		}
		line := fmt.Sprintf("%-9s %s", change.Outcome, change.Path)
		switch {
		case change.Why != "":
			line += ": " + change.Why
		case change.From != "":
			line += ": was " + change.From
		}
		p.say("%s", line)
		if change.Outcome == update.Conflict {
			conflicts = append(conflicts, change.Path)
		}
	}
	return conflicts, nil
}

// finish runs the go commands, or prints what is left to do.
func (p *program) finish(ctx context.Context, root string, commands []goCommand, conflicts []string, noTidy bool) error {
	generate := "make generate golden test"
	if len(conflicts) > 0 {
		return fmt.Errorf("conflicts in %s: search for <<<<<<<, resolve them, then run:\n  %s",
			strings.Join(conflicts, ", "), inFolder(root, commands)+" && "+generate)
	}
	if noTidy {
		p.say("\nNext:\n  %s", inFolder(root, commands)+" && "+generate)
		return nil
	}
	for i, command := range commands {
		p.say("%s", command)
		if err := command.run(ctx, root, p.stderr, "GOWORK=off"); err != nil {
			return fmt.Errorf("%w\nThe files are written. Fix the problem, then run:\n  %s\nOr go back:\n  cd %s && %s",
				err, inFolder(root, commands[i:]), root, undo)
		}
	}
	p.say("\nNext:\n  git add -A . && git diff --cached .   # shows what the update has changed\n  %s", generate)
	return nil
}
