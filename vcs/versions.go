package vcs

import (
	"context"
	"slices"
)

// VersionOption says which references are versions.
type VersionOption func(*bool)

// TagsOnly leaves branches out.
func TagsOnly() VersionOption { return func(tagsOnly *bool) { *tagsOnly = true } }

// SupportedVersions are the names by which versions can be checked out: tags and local branches that come to a commit, ascending, a name that both have once
// (spec: vcs 8, 9, W11). Remote branches and other references are none.
func (r *Repository) SupportedVersions(ctx context.Context, options ...VersionOption) ([]string, error) {
	tagsOnly := false
	for _, option := range options {
		option(&tagsOnly)
	}
	refs, err := r.Refs(ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, ref := range refs {
		if ref.Commit != "" && (ref.Kind == Tag || ref.Kind == Branch && !tagsOnly) {
			names = append(names, ref.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
