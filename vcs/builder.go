package vcs

import (
	"context"
	"fmt"
	"path"

	"github.com/go-git/go-git/v5/plumbing"
)

// identity is the author and committer of what Setup makes.
const identity = "operkit <noreply@operkit.dev>"

// emptyTree is the id of the tree of nothing.
var emptyTree = plumbing.ComputeHash(plumbing.TreeObject, nil)

// builder makes the repository of single versions.
type builder struct {
	source  *Repository
	options SetupOptions
	report  *Report
	// made are objects that the source hasn't, in the order in which they are written; needed are those of the source.
	made   []made
	needed map[plumbing.Hash]bool
	// walked are the trees among them whose content is noted too, with how deep folders are below each: somebody may have a tree stand where a file should.
	walked map[plumbing.Hash]int
	// modules tells that there is a submodule, attributes are the files that say which others Git LFS keeps.
	modules    bool
	attributes map[plumbing.Hash]bool
	// kin are which objects are versions of each other.
	kin kin
}

type made struct {
	kind    plumbing.ObjectType
	hash    plumbing.Hash
	content []byte
}

// newBuilder makes the commits, and finds out which objects they need.
func newBuilder(ctx context.Context, source *Repository, options SetupOptions, report *Report) (*builder, error) {
	b := &builder{source: source, options: options, report: report}
	b.needed, b.walked, b.attributes = map[plumbing.Hash]bool{}, map[plumbing.Hash]int{}, map[plumbing.Hash]bool{}
	b.add(plumbing.TreeObject, nil)
	root := b.add(plumbing.CommitObject, rootText())
	report.Root = Commit(root.String())
	known := map[plumbing.Hash]bool{root: true}
	for done, i := range source.byTime(report.Kept) {
		b.progress(Reading, done, len(report.Kept))
		kept := &report.Kept[i]
		info, err := source.commit(kept.Ref.Commit)
		if err == nil {
			_, err = b.need(ctx, info.tree, "", 0)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", kept.Ref.Full, b.source.explained(err))
		}
		text := commitText(info.tree, root, info.authored, info.committed, kept.Ref.Name)
		hash := plumbing.ComputeHash(plumbing.CommitObject, text)
		if !known[hash] {
			known[hash] = true
			b.add(plumbing.CommitObject, text)
		}
		kept.Commit, kept.Tree = Commit(hash.String()), info.tree.String()
	}
	b.progress(Reading, len(report.Kept), len(report.Kept))
	delete(b.needed, emptyTree)
	report.Objects = len(b.made) + len(b.needed)
	var err error
	if report.SourceBytes, err = source.size(); err == nil {
		report.Warnings, err = b.warnings(ctx)
	}
	return b, err
}

func (b *builder) add(kind plumbing.ObjectType, content []byte) plumbing.Hash {
	hash := plumbing.ComputeHash(kind, content)
	b.made = append(b.made, made{kind, hash, content})
	return hash
}

// rootText is the commit of nothing.
func rootText() []byte {
	return commitText(emptyTree, plumbing.ZeroHash, "0 +0000", "0 +0000", "root")
}

// commitText is a commit: its times are the source's, so that the same versions have the same ids.
func commitText(tree, parent plumbing.Hash, authored, committed, message string) []byte {
	text := "tree " + tree.String() + "\n"
	if !parent.IsZero() {
		text += "parent " + parent.String() + "\n"
	}
	return []byte(text + "author " + identity + " " + authored + "\ncommitter " + identity + " " + committed + "\n\n" + message + "\n")
}

// need notes the tree of a path and all that is in it, and returns how deep folders are below it. What is in a submodule is in another repository.
func (b *builder) need(ctx context.Context, tree plumbing.Hash, at string, depth int) (below int, err error) {
	below, known := b.walked[tree]
	if depth+below > mostDepth {
		return 0, fmt.Errorf("folders are more than %d deep", mostDepth)
	}
	if known {
		return below, nil
	}
	if err := ctx.Err(); err != nil {
		return 0, context.Cause(ctx)
	}
	b.needed[tree], b.walked[tree] = true, 0
	entries, err := b.source.tree(tree)
	if err != nil {
		return 0, err
	}
	b.kin.note(at, tree, entries, b.needed)
	for _, e := range entries {
		switch e.mode {
		case modeModule:
			b.modules = true
		case modeFolder:
			deep, err := b.need(ctx, e.hash, path.Join(at, e.name), depth+1)
			if err != nil {
				return 0, err
			}
			below = max(below, deep+1)
		default:
			b.needed[e.hash] = true
			if e.name == attributesName {
				b.attributes[e.hash] = true
			}
		}
	}
	b.walked[tree] = below
	return below, nil
}
