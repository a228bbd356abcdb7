package vcs

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// identity is the author and committer of the commits that Setup makes.
const identity = "operkit <noreply@operkit.dev>"

// emptyTree is the id of the empty tree.
var emptyTree = plumbing.ComputeHash(plumbing.TreeObject, nil)

// builder makes the repository of single versions.
type builder struct {
	source  *Repository
	options SetupOptions
	report  *Report
	// made are the new objects, in the order in which they are written. needed are the needed objects of the source.
	made   []made
	needed map[plumbing.Hash]bool
	// walked maps each needed tree to the depth of the folders below it. In a hostile repository, needed may also have
	// trees where files should be.
	walked map[plumbing.Hash]int
	// modules is set if there is a submodule. attributes are the files .gitattributes.
	modules    bool
	attributes map[plumbing.Hash]bool
	kin        kin
}

// made is a new object.
type made struct {
	kind    plumbing.ObjectType
	hash    plumbing.Hash
	content []byte
}

// newBuilder makes the commits, and collects the objects that they need.
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

// rootText returns the content of the empty root commit.
func rootText() []byte {
	return commitText(emptyTree, plumbing.ZeroHash, "0 +0000", "0 +0000", "root")
}

// commitText returns the content of a commit. Its times are those of the commit in the source, so that the same
// versions have the same ids.
func commitText(tree, parent plumbing.Hash, authored, committed, message string) []byte {
	text := "tree " + tree.String() + "\n"
	if !parent.IsZero() {
		text += "parent " + parent.String() + "\n"
	}
	return []byte(text + "author " + identity + " " + authored + "\ncommitter " + identity + " " + committed + "\n\n" + message + "\n")
}

// need collects the tree of a path and everything in it except submodules. It returns the depth of the folders below
// the tree.
func (b *builder) need(ctx context.Context, tree plumbing.Hash, at string, depth int) (below int, err error) {
	below, known := b.walked[tree]
	if depth+below > maxDepth {
		return 0, fmt.Errorf("folders are more than %d deep", maxDepth)
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

// kin relates objects that have the same path in consecutive versions. An object that has no delta in the source is
// packed as a delta to its kin.
type kin struct {
	// order is the order in which objects were found.
	order []plumbing.Hash
	// older maps an object to its kin in the version before, newer to its kin in the version after.
	older, newer map[plumbing.Hash]plumbing.Hash
	// latest maps a path to its tree in the previous version.
	latest map[string]latest
}

type latest struct {
	hash    plumbing.Hash
	entries []entry
}

// note adds a tree and those of its entries that aren't known yet.
func (k *kin) note(at string, tree plumbing.Hash, entries []entry, known map[plumbing.Hash]bool) {
	if k.latest == nil {
		k.older, k.newer, k.latest = map[plumbing.Hash]plumbing.Hash{}, map[plumbing.Hash]plumbing.Hash{}, map[string]latest{}
	}
	before := k.latest[at]
	k.latest[at] = latest{tree, entries}
	k.relate(before.hash, tree)
	k.order = append(k.order, tree)
	i := 0
	for _, e := range entries {
		if known[e.hash] || e.mode == modeModule {
			continue
		}
		if e.mode != modeFolder {
			k.order = append(k.order, e.hash)
		}
		for i < len(before.entries) && strings.Compare(before.entries[i].name, e.name) < 0 {
			i++
		}
		if i < len(before.entries) && before.entries[i].name == e.name && (before.entries[i].mode == modeFolder) == (e.mode == modeFolder) {
			k.relate(before.entries[i].hash, e.hash)
		}
	}
}

func (k *kin) relate(older, newer plumbing.Hash) {
	if !older.IsZero() && older != newer {
		k.older[newer], k.newer[older] = older, newer
	}
}

// byTime returns the indexes of kept, sorted by the times of the commits, because consecutive versions have most in
// common.
func (r *Repository) byTime(kept []Kept) []int {
	order, times := make([]int, len(kept)), make([]int64, len(kept))
	for i, one := range kept {
		order[i] = i
		if info, err := r.commit(one.Ref.Commit); err == nil { // an error is reported where the commit is needed
			seconds, _, _ := strings.Cut(info.committed, " ")
			times[i], _ = strconv.ParseInt(seconds, 10, 64)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(times[a], times[b]) })
	return order
}
