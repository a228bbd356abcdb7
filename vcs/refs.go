package vcs

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// Kind is the kind of a reference.
type Kind string

// The kinds of references.
const (
	Tag    Kind = "tag"
	Branch Kind = "branch"
	Remote Kind = "remote"
	Other  Kind = "other"
)

// Commit is the id of a commit, in 40 hexadecimal digits.
type Commit string

// Ref is a reference.
type Ref struct {
	// Kind follows from the full name.
	Kind Kind
	// Name is the short name, such as 1.2.3 or origin/main. Full is the full name, such as refs/tags/1.2.3.
	Name, Full string
	// Commit is the commit that the reference points to, directly or through tags. It is empty if the target isn't a
	// commit, is broken, or is missing.
	Commit Commit
}

var prefixes = []struct {
	prefix string
	kind   Kind
}{{"refs/tags/", Tag}, {"refs/heads/", Branch}, {"refs/remotes/", Remote}}

func newRef(full string) Ref {
	for _, one := range prefixes {
		if name, ok := strings.CutPrefix(full, one.prefix); ok {
			return Ref{Kind: one.kind, Name: name, Full: full}
		}
	}
	return Ref{Kind: Other, Name: full, Full: full}
}

// Refs returns all references, sorted by full name. It leaves out symbolic references such as HEAD.
func (r *Repository) Refs(ctx context.Context) ([]Ref, error) {
	return r.refs(ctx, func(Ref) bool { return false })
}

// refs returns all references. A reference that can't be read has no commit. If such a reference is needed, or if the
// system has failed, refs returns an error.
func (r *Repository) refs(ctx context.Context, needed func(ref Ref) bool) ([]Ref, error) {
	references, err := r.references()
	if err != nil {
		return nil, &RuntimeError{"refs of", r.path, err}
	}
	refs := make([]Ref, 0, len(references))
	for _, reference := range references {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		ref := newRef(reference.name)
		ref.Commit, err = r.commitOf(reference)
		if fromSystem(err) || err != nil && !errors.As(err, new(*noCommitError)) && needed(ref) {
			return nil, &RuntimeError{"refs of", r.path, fmt.Errorf("%s: %w", ref.Full, r.explained(err))}
		}
		refs = append(refs, ref)
	}
	return refs, nil
}

// commitOf returns the commit that a reference points to.
func (r *Repository) commitOf(reference reference) (Commit, error) {
	if !reference.peeled.IsZero() {
		if kind, err := r.kind(reference.peeled); err == nil && kind == plumbing.CommitObject {
			return Commit(reference.peeled.String()), nil
		}
	}
	return r.peel(reference.hash)
}

// maxTags limits the tags that are followed from tag to tag.
const maxTags = 16

// noCommitError reports that an object is neither a commit nor a tag.
type noCommitError struct {
	hash plumbing.Hash
	kind plumbing.ObjectType
}

func (e *noCommitError) Error() string {
	return fmt.Sprintf("object %s: it is a %s and not a commit", e.hash, e.kind)
}

// peel follows tags to the commit that they name.
func (r *Repository) peel(hash plumbing.Hash) (Commit, error) {
	for range maxTags {
		kind, err := r.kind(hash)
		if err != nil {
			return "", fmt.Errorf("object %s: %w", hash, err)
		}
		switch kind {
		case plumbing.CommitObject:
			return Commit(hash.String()), nil
		case plumbing.TagObject:
			obj, err := r.object(hash)
			if err == nil {
				hash, err = obj.id("object")
			}
			if err != nil {
				return "", fmt.Errorf("tag %s: %w", obj.hash, err)
			}
		default:
			return "", &noCommitError{hash, kind}
		}
	}
	return "", fmt.Errorf("more than %d tags follow each other", maxTags)
}
