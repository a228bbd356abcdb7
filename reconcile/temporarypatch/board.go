package temporarypatch

import (
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// board holds the results of each patch, which reconciles of targets report. It is safe for concurrent use; its zero
// value is empty.
type board struct {
	mu sync.Mutex
	// runs are the latest renderings, by patch.
	runs map[types.UID]*run
	// since is when the wait for the result of a patch began.
	since map[types.UID]awaiting
}

type awaiting struct {
	generation int64
	since      time.Time
}

// run is one rendering of a target with one generation of a patch.
type run struct {
	board      *board
	patch      types.UID
	generation int64
	bodies     bodies

	seen    map[string]bool   // components of which an object was rendered
	matched map[string]spot   // by internal name
	carried map[string]spot   // matches of the previous rendering
	failed  map[string]string // by internal name
}

type spot struct {
	component string
	at        place
}

// begin returns the run for a rendering. It replaces the previous run with its first object.
func (b *board) begin(patch *TemporaryPatch, content bodies) *run {
	return &run{
		board: b, patch: patch.UID, generation: patch.Generation, bodies: content,
		seen: map[string]bool{}, matched: map[string]spot{}, failed: map[string]string{},
	}
}

// note records the result of applying bodies to one object of component; at are the places of the bodies. Matches of
// the previous rendering count until their component is rendered again. The result is recorded immediately, so that a
// rendered object is never reported as unmatched.
func (r *run) note(component, object string, at []place, err error) {
	r.board.mu.Lock()
	defer r.board.mu.Unlock()
	if len(r.seen) == 0 {
		if before := r.board.runs[r.patch]; before != nil && before.generation == r.generation {
			r.carried = before.matched
		}
		if r.board.runs == nil {
			r.board.runs = map[types.UID]*run{}
		}
		r.board.runs[r.patch] = r
	}
	r.seen[component] = true
	internal := component + "." + object
	for _, p := range at {
		r.matched[internal] = spot{component, p}
	}
	if err != nil {
		r.failed[internal] = err.Error()
	}
}

// found is the result of a patch.
type found struct {
	matched, unmatched []string
	failed             map[string]string
}

// look returns the result of the latest rendering with a generation of a patch; ok is false when there was none
// since this process began.
func (b *board) look(patch types.UID, generation int64) (known found, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.runs[patch]
	if r == nil || r.generation != generation {
		return found{}, false
	}
	names, places := map[string]bool{}, map[place]bool{}
	for name, s := range r.matched {
		names[name], places[s.at] = true, true
	}
	for name, s := range r.carried {
		if !r.seen[s.component] {
			names[name], places[s.at] = true, true
		}
	}
	return found{matched: sorted(names), unmatched: r.bodies.unmatched(places), failed: maps.Clone(r.failed)}, true
}

// await records whether the result of a generation of a patch is still awaited.
func (b *board) await(patch types.UID, generation int64, awaited bool, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !awaited {
		delete(b.since, patch)
		return
	}
	if asked, ok := b.since[patch]; ok && asked.generation == generation {
		return
	}
	if b.since == nil {
		b.since = map[types.UID]awaiting{}
	}
	b.since[patch] = awaiting{generation, now}
}

// waiting returns since when the result is awaited.
func (b *board) waiting(patch types.UID) (since time.Time, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	asked, ok := b.since[patch]
	return asked.since, ok
}

// forget drops the results of a patch that is deleted.
func (b *board) forget(patch types.UID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.runs, patch)
	delete(b.since, patch)
}

func sorted(names map[string]bool) []string { return slices.Sorted(maps.Keys(names)) }
