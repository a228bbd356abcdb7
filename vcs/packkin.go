package vcs

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// kin is which objects are versions of each other: they have the same path, one version after the other. What isn't packed as a difference in the source can
// be one to them.
type kin struct {
	// order is that in which objects were found.
	order []plumbing.Hash
	// older and newer are the versions before and after an object.
	older, newer map[plumbing.Hash]plumbing.Hash
	// latest are the trees that were found last, by their paths.
	latest map[string]latest
}

type latest struct {
	hash    plumbing.Hash
	entries []entry
}

// note takes the entries of a tree, of which those that are known aren't noted again.
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

// byTime are the places of versions in the order in which they were made: those that follow each other have most in common.
func (r *Repository) byTime(kept []Kept) []int {
	order, times := make([]int, len(kept)), make([]int64, len(kept))
	for i, one := range kept {
		order[i] = i
		if info, err := r.commit(one.Ref.Commit); err == nil { // what can't be read is told by whoever needs it
			seconds, _, _ := strings.Cut(info.committed, " ")
			times[i], _ = strconv.ParseInt(seconds, 10, 64)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(times[a], times[b]) })
	return order
}
