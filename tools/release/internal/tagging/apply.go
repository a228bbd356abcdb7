package tagging

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/operkit/operkit/tools/check/repository"
	"github.com/operkit/operkit/tools/release/internal/git"
	"github.com/operkit/operkit/tools/release/internal/plan"
	"github.com/operkit/operkit/tools/release/internal/publication"
)

// Result describes the release that was made.
type Result struct {
	// Commit is the commit on the branch, Tagged the commit that the tags point to.
	Commit, Tagged string
	// Tags are the names of the new tags.
	Tags []string
	// Push is the command that pushes the branch and the tags.
	Push string
}

// Check returns an error if a plan can't be carried out: it is empty, the working tree has changes, HEAD is detached or
// has moved since the plan was made, or a tag exists already.
func Check(ctx context.Context, r *repository.Repository, p plan.Plan) error {
	if len(p.Modules) == 0 {
		return errors.New("nothing to release: no module has changed since its last tag")
	}
	branch, err := git.Dir(r.Root).Branch(ctx)
	if err != nil {
		return err
	}
	if branch == "" {
		return errors.New("HEAD is detached: check out a branch, because a release is a commit on a branch")
	}
	head, err := git.Dir(r.Root).Resolve(ctx, "HEAD")
	if err != nil {
		return err
	}
	if head != p.Commit {
		return fmt.Errorf("HEAD is %.12s, but the plan was made for %.12s: make the plan again", head, p.Commit)
	}
	dirty, err := git.Dir(r.Root).Dirty(ctx)
	if err != nil {
		return err
	}
	if len(dirty) > 0 {
		return fmt.Errorf("the working tree has changes, which would not be in the release: commit or remove them\n%s", strings.Join(dirty, "\n"))
	}
	tags, err := git.Dir(r.Root).Tags(ctx)
	if err != nil {
		return err
	}
	for _, m := range p.Modules {
		if slices.Contains(tags, m.Tag) {
			return fmt.Errorf("tag %s: it exists already: make the plan again", m.Tag)
		}
	}
	return nil
}

// Apply carries out a plan that has passed [Check], which it calls again before it changes references. It pushes
// nothing. If it fails, no reference has changed unless the error says otherwise.
func Apply(ctx context.Context, r *repository.Repository, p plan.Plan) (Result, error) {
	repo := git.Dir(r.Root)
	branch, err := repo.Branch(ctx)
	if err != nil {
		return Result{}, err
	}
	modules, err := p.Publish(ctx, r)
	if err != nil {
		return Result{}, err
	}
	// The tree may have changed while Publish read it.
	if err := Check(ctx, r, p); err != nil {
		return Result{}, err
	}
	made, err := commit(ctx, repo, p, p.Commit, modules)
	if err != nil {
		return Result{}, err
	}
	updates := []git.Update{{Reference: branch, New: made.Commit, Old: p.Commit}}
	for _, m := range p.Modules {
		tag, err := repo.Tag(ctx, m.Tag, made.Tagged, m.Tag+"\n\n"+m.Changelog)
		if err != nil {
			return Result{}, err
		}
		updates = append(updates, git.Update{Reference: "refs/tags/" + m.Tag, New: tag})
		made.Tags = append(made.Tags, m.Tag)
	}
	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}
	ctx = context.WithoutCancel(ctx) // from here on the release must not stop halfway
	if err := repo.Publish(ctx, updates); err != nil {
		return Result{}, err
	}
	if err := repo.Forward(ctx, p.Commit, made.Commit); err != nil {
		return made, fmt.Errorf("the release is made, but the changelogs in the working tree weren't updated: %w: run git reset --hard", err)
	}
	made.Push, err = push(ctx, repo, branch, made.Tags)
	return made, err
}

// commit writes the two commits.
func commit(ctx context.Context, repo git.Dir, p plan.Plan, head string, modules []publication.Module) (Result, error) {
	changelogs, requirements := map[string][]byte{}, map[string][]byte{}
	var names []string
	for _, m := range modules {
		if _, kept := p.Kept[m.Path]; kept {
			continue
		}
		changelogs[path.Join(m.Dir, repository.ChangelogFile)] = m.Files[repository.ChangelogFile]
		for _, name := range []string{"go.mod", "go.sum"} {
			if text, has := m.Files[name]; has {
				requirements[path.Join(m.Dir, name)] = text
			}
		}
		names = append(names, m.Dir+" "+m.Version)
	}
	var made Result
	var err error
	if made.Commit, err = repo.Commit(ctx, head, message("release: ", names), changelogs); err != nil {
		return Result{}, err
	}
	made.Tagged, err = repo.Commit(ctx, made.Commit, message("release: requirements of ", names), requirements)
	return made, err
}

// message returns a commit message with names. If there are many, they are in the body of the message.
func message(what string, names []string) string {
	const few = 4
	if len(names) <= few {
		return what + strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s%d modules\n\n%s", what, len(names), strings.Join(names, "\n"))
}

// push returns the command that pushes a branch and tags.
func push(ctx context.Context, repo git.Dir, branch string, tags []string) (string, error) {
	remote, err := repo.Remote(ctx, branch)
	if err != nil {
		return "", err
	}
	if remote == "" {
		remote = "REMOTE"
	}
	words := []string{"git push --atomic", remote, strings.TrimPrefix(branch, "refs/heads/")}
	return strings.Join(append(words, tags...), " "), nil
}
