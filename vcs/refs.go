package vcs

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// Kind tells what a reference is.
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
	// Kind is by where it stands.
	Kind Kind
	// Name is the short name, such as 1.2.3 or origin/main, Full the whole one, such as refs/tags/1.2.3.
	Name, Full string
	// Commit is what it comes to, empty if that is no commit, or is broken or missing.
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

// Refs are all references by full name, symbolic ones such as HEAD left out (spec: vcs 15).
func (r *Repository) Refs(ctx context.Context) ([]Ref, error) {
	return r.refs(ctx, func(Ref) bool { return false })
}

// refs are all references. One that can't be read is one all the same, without a commit; it is an error if it is needed, or if it is the system that fails.
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
		if fromSystem(err) || err != nil && !errors.Is(err, errNoCommit) && needed(ref) {
			return nil, &RuntimeError{"refs of", r.path, fmt.Errorf("%s: %w", ref.Full, r.explained(err))}
		}
		refs = append(refs, ref)
	}
	return refs, nil
}

// commitOf is the commit that a reference comes to.
func (r *Repository) commitOf(reference reference) (Commit, error) {
	if !reference.peeled.IsZero() {
		if kind, err := r.kind(reference.peeled); err == nil && kind == plumbing.CommitObject {
			return Commit(reference.peeled.String()), nil
		}
	}
	return r.peel(reference.hash)
}

// mostTags is how many tags of tags are followed.
const mostTags = 16

// errNoCommit tells that an object is no commit, and no tag of one.
var errNoCommit = errors.New("no commit")

// peel follows tags to the commit that they name.
func (r *Repository) peel(hash plumbing.Hash) (Commit, error) {
	for range mostTags {
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
			return "", fmt.Errorf("object %s: it is a %s and %w", hash, kind, errNoCommit)
		}
	}
	return "", fmt.Errorf("object %s: it is a tag of a tag of a tag, %d times over", hash, mostTags)
}
