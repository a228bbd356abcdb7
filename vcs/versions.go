package vcs

import (
	"cmp"
	"context"
	"slices"
)

// Version is one that can be checked out.
type Version struct {
	// Number is the canonical one, see CanonicalVersion, Ref the tag or branch that has it as its name.
	Number string
	Ref    Ref
}

// String is the number.
func (v Version) String() string { return v.Number }

// VersionOption says which references are versions.
type VersionOption func(*bool)

// TagsOnly leaves branches out.
func TagsOnly() VersionOption { return func(tagsOnly *bool) { *tagsOnly = true } }

// SupportedVersions are the versions of a repository, ascending: tags and local branches that come to a commit and have a number for a name (spec: vcs 8,
// 9, W11). What else there is, such as main or a remote branch, can be checked out by its name and is no version. Of several of one number, such as
// v1.2.0 and 1.2.0, there is one: a tag before a branch, and the one that is spelled as the number before others. One that can't be read is a
// *RuntimeError: no version is left out for that.
func (r *Repository) SupportedVersions(ctx context.Context, options ...VersionOption) ([]Version, error) {
	tagsOnly := false
	for _, option := range options {
		option(&tagsOnly)
	}
	numberOf := func(ref Ref) (number, bool) {
		if ref.Kind != Tag && (ref.Kind != Branch || tagsOnly) {
			return number{}, false
		}
		return parseNumber(ref.Name)
	}
	refs, err := r.refs(ctx, func(ref Ref) bool {
		_, is := numberOf(ref)
		return is
	})
	if err != nil {
		return nil, err
	}
	var found []numbered
	for _, ref := range refs {
		if ref.Commit == "" {
			continue
		}
		if n, is := numberOf(ref); is {
			found = append(found, numbered{n, ref})
		}
	}
	slices.SortFunc(found, numbered.compare)
	var versions []Version
	for _, one := range found {
		if number := one.number.String(); len(versions) == 0 || versions[len(versions)-1].Number != number {
			versions = append(versions, Version{number, one.ref})
		}
	}
	return versions, nil
}

type numbered struct {
	number number
	ref    Ref
}

func (n numbered) compare(other numbered) int {
	spelling := func(n numbered) int {
		rank := 0
		if n.ref.Kind != Tag {
			rank += 2
		}
		if n.ref.Name != n.number.String() {
			rank++
		}
		return rank
	}
	return cmp.Or(n.number.compare(other.number), cmp.Compare(spelling(n), spelling(other)), cmp.Compare(n.ref.Name, other.ref.Name))
}
