package vcs

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
)

// attributesName is the name of the file that lists the files in Git LFS.
const attributesName = ".gitattributes"

// maxWarnings limits the listed paths.
const maxWarnings = 1000

// special is a path whose content isn't in the repository, with the reason.
type special struct{ path, why string }

const (
	inModule = "it is a submodule, whose content is in another repository"
	inLFS    = "its content is kept by Git LFS elsewhere"
)

// warnings lists submodules and files of Git LFS. Each path is listed once, with the versions that have it.
func (b *builder) warnings(ctx context.Context) ([]string, error) {
	pointers, err := b.pointers(ctx)
	if err != nil || len(pointers) == 0 && !b.modules {
		return nil, err
	}
	f := finder{b: b, pointers: pointers, known: map[plumbing.Hash][]special{}}
	versions := map[special][]string{}
	for _, kept := range b.report.Kept {
		found, err := f.find(ctx, plumbing.NewHash(kept.Tree))
		if err != nil {
			return nil, err
		}
		for _, one := range found {
			versions[one] = append(versions[one], kept.Name)
		}
	}
	var texts []string
	for one, names := range maps.All(versions) {
		in := names[0]
		if more := len(names) - 1; more > 0 {
			in += fmt.Sprintf(" and %d more", more)
		}
		texts = append(texts, fmt.Sprintf("%s: %s (in %s)", one.path, one.why, in))
	}
	slices.Sort(texts)
	return texts[:min(len(texts), maxWarnings)], nil
}

// pointers returns the pointer files of Git LFS. It reads files only if some .gitattributes mentions Git LFS.
func (b *builder) pointers(ctx context.Context) (map[plumbing.Hash]bool, error) {
	used := false
	for hash := range b.attributes {
		text, err := b.small(hash, maxMetadata)
		if err != nil {
			return nil, err
		}
		used = used || bytes.Contains(text, []byte("filter=lfs"))
	}
	found := map[plumbing.Hash]bool{}
	if !used {
		return found, nil
	}
	for hash := range b.needed {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		text, err := b.small(hash, maxLFS)
		if err != nil {
			return nil, err
		}
		if bytes.HasPrefix(text, lfs) {
			found[hash] = true
		}
	}
	return found, nil
}

// small returns the content of a file, nil if it is longer than limit.
func (b *builder) small(hash plumbing.Hash, limit int64) ([]byte, error) {
	if kind, _ := b.wanted(hash); kind != plumbing.BlobObject {
		return nil, nil
	}
	size, err := b.source.length(hash)
	if err != nil {
		return nil, b.source.explained(fmt.Errorf("object %s: %w", hash, err))
	}
	if size > limit {
		return nil, nil
	}
	obj, err := b.source.object(hash)
	if err != nil {
		return nil, fmt.Errorf("object %s: %w", hash, err)
	}
	return obj.text, nil
}

// finder finds the special paths of trees.
type finder struct {
	b        *builder
	pointers map[plumbing.Hash]bool
	known    map[plumbing.Hash][]special
}

// find returns the special paths of a tree in the order of its entries, at most maxWarnings.
func (f *finder) find(ctx context.Context, tree plumbing.Hash) ([]special, error) {
	if found, is := f.known[tree]; is {
		return found, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	entries, err := f.b.source.tree(tree)
	if err != nil {
		return nil, err
	}
	var found []special
	for _, e := range entries {
		switch {
		case e.mode == modeModule:
			found = append(found, special{e.name, inModule})
		case e.mode == modeFolder:
			below, err := f.find(ctx, e.hash)
			if err != nil {
				return nil, err
			}
			for _, one := range below {
				found = append(found, special{path.Join(e.name, one.path), one.why})
			}
		case f.pointers[e.hash]:
			found = append(found, special{e.name, inLFS})
		}
	}
	found = found[:min(len(found), maxWarnings)]
	f.known[tree] = found
	return found, nil
}
