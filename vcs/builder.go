package vcs

import (
	"context"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
)

// identity is the author and committer of what Setup makes.
const identity = "operkit <noreply@operkit.dev>"

// emptyTree is the id of the tree of nothing.
var emptyTree = plumbing.ComputeHash(plumbing.TreeObject, nil)

// builder makes the repository of single versions.
type builder struct {
	source *Repository
	*chooser
	report *Report
	// made are objects that the source hasn't, in the order in which they are written; needed are those of the source.
	made   []made
	needed map[plumbing.Hash]bool
}

type made struct {
	kind    plumbing.ObjectType
	hash    plumbing.Hash
	content []byte
}

// newBuilder makes the commits, and finds out which objects they need.
func newBuilder(ctx context.Context, source *Repository, c *chooser, report *Report) (*builder, error) {
	b := &builder{source: source, chooser: c, report: report, needed: map[plumbing.Hash]bool{}}
	b.add(plumbing.TreeObject, nil)
	root := b.add(plumbing.CommitObject, commitText(emptyTree, plumbing.ZeroHash, "0 +0000", "0 +0000", "root"))
	report.Root = Commit(root.String())
	known := map[plumbing.Hash]bool{root: true}
	for i := range report.Kept {
		kept := &report.Kept[i]
		info, err := source.commit(kept.Ref.Commit)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", kept.Ref.Full, err)
		}
		if err := b.need(ctx, info.tree, 0); err != nil {
			return nil, fmt.Errorf("%s: %w", kept.Ref.Full, err)
		}
		text := commitText(info.tree, root, info.authored, info.committed, kept.Ref.Name)
		hash := plumbing.ComputeHash(plumbing.CommitObject, text)
		if !known[hash] {
			known[hash] = true
			b.add(plumbing.CommitObject, text)
		}
		kept.Commit, kept.Tree = Commit(hash.String()), info.tree.String()
	}
	delete(b.needed, emptyTree)
	report.Objects = len(b.made) + len(b.needed)
	return b, nil
}

func (b *builder) add(kind plumbing.ObjectType, content []byte) plumbing.Hash {
	hash := plumbing.ComputeHash(kind, content)
	b.made = append(b.made, made{kind, hash, content})
	return hash
}

// commitText is a commit: its times are the source's, so that the same versions have the same ids.
func commitText(tree, parent plumbing.Hash, authored, committed, message string) []byte {
	text := "tree " + tree.String() + "\n"
	if !parent.IsZero() {
		text += "parent " + parent.String() + "\n"
	}
	return []byte(text + "author " + identity + " " + authored + "\ncommitter " + identity + " " + committed + "\n\n" + message + "\n")
}

// need notes a tree and all that is in it. What is in a submodule is in another repository.
func (b *builder) need(ctx context.Context, tree plumbing.Hash, depth int) error {
	if b.needed[tree] {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if depth > mostDepth {
		return fmt.Errorf("folders are more than %d deep", mostDepth)
	}
	b.needed[tree] = true
	entries, err := b.source.tree(tree)
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch e.mode {
		case modeModule:
		case modeFolder:
			if err := b.need(ctx, e.hash, depth+1); err != nil {
				return err
			}
		default:
			b.needed[e.hash] = true
		}
	}
	return nil
}
