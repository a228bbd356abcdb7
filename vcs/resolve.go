package vcs

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-git/go-git/v5/plumbing"
)

// minDigits is the minimum number of digits of an abbreviation, as in git.
const minDigits = 4

// errUnknown means that a revision names no tag, branch or commit.
var errUnknown = errors.New("there is no such tag, branch or commit")

// Resolve returns the commit of a revision. A revision is the name of a tag or a branch, the full name of a reference,
// the id of a commit, or an unambiguous abbreviation of an id. If a tag and a branch have the same name, it resolves
// the tag. It refuses other expressions of git, such as HEAD or main~1. It returns a *ConfigError if there is no such
// commit, and a *RuntimeError if the system fails.
func (r *Repository) Resolve(ctx context.Context, revision string) (Commit, error) {
	if err := ctx.Err(); err != nil {
		return "", context.Cause(ctx)
	}
	commit, err := r.resolve(revision)
	subject := strconv.Quote(revision) + " in " + r.path
	switch {
	case fromSystem(err):
		return "", &RuntimeError{"resolve", subject, err}
	case err != nil:
		return "", &ConfigError{"resolve", subject, err}
	}
	return commit, nil
}

func (r *Repository) resolve(revision string) (Commit, error) {
	if err := checkRevision(revision); err != nil {
		return "", err
	}
	names := []string{"refs/tags/" + revision, "refs/heads/" + revision}
	if strings.HasPrefix(revision, "refs/") {
		names = []string{revision}
	}
	for _, name := range names {
		hash, found, err := r.reference(name)
		if err != nil {
			return "", err
		}
		if found {
			return r.peel(hash)
		}
	}
	return r.abbreviated(revision)
}

// abbreviated returns the commit with a full or an abbreviated id.
func (r *Repository) abbreviated(text string) (Commit, error) {
	text = strings.ToLower(text)
	if len(text) < minDigits || len(text) > 40 || strings.Trim(text, "0123456789abcdef") != "" {
		return "", errUnknown
	}
	if len(text) == 40 {
		commit, err := r.peel(plumbing.NewHash(text))
		if errors.Is(err, plumbing.ErrObjectNotFound) {
			return "", errUnknown
		}
		return commit, err
	}
	hashes, err := r.store.withPrefix(text)
	if err != nil {
		return "", err
	}
	found := map[Commit]bool{}
	for _, hash := range hashes {
		kind, err := r.kind(hash)
		if fromSystem(err) {
			return "", err
		}
		if err == nil && kind == plumbing.CommitObject {
			found[Commit(hash.String())] = true
		}
	}
	switch len(found) {
	case 0:
		return "", errUnknown
	case 1:
		for commit := range found {
			return commit, nil
		}
	}
	return "", fmt.Errorf("%d commits begin with it: give more digits", len(found))
}

// maxPath is the maximum length of a revision or a path, in bytes.
const maxPath = 4096

// checkRevision returns an error if a text can't be the name of a reference, as git check-ref-format does.
func checkRevision(text string) error {
	switch {
	case text == "":
		return errors.New("it is empty")
	case len(text) > maxPath:
		return errors.New("it is too long")
	case !utf8.ValidString(text):
		return errors.New("it isn't UTF-8")
	case strings.HasPrefix(text, "-"):
		return errors.New("it begins with a hyphen")
	case strings.ContainsAny(text, " ~^:?*[\\\x7f") || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' }):
		return errors.New("it has a character that no name of a reference may have: a space, ~, ^, :, ?, *, [ or a backslash")
	case strings.Contains(text, "..") || strings.Contains(text, "@{") || text == "@":
		return errors.New("it isn't the name of a reference: other expressions of git aren't supported")
	}
	for element := range strings.SplitSeq(text, "/") {
		if element == "" || strings.HasPrefix(element, ".") || strings.HasSuffix(element, ".lock") {
			return fmt.Errorf("the part %q can't be in the name of a reference", element)
		}
	}
	if strings.HasSuffix(text, ".") {
		return errors.New("it ends with a dot")
	}
	return nil
}
