package temporarypatch

import (
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// board is where reconciles of targets leave word of what they made of each patch. It is safe for
// concurrent use; its zero value is empty.
type board struct {
	mu sync.Mutex
	// runs are the latest renderings with each patch.
	runs map[types.UID]*run
	// since tells from when on it is asked for what isn't settled yet.
	since map[types.UID]question
}

type question struct {
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
	carried map[string]spot   // those of the rendering before
	failed  map[string]string // by internal name
}

type spot struct {
	component string
	at        place
}

// begin makes the run of a rendering that may begin now. It counts from its first object on.
func (b *board) begin(patch *TemporaryPatch, content bodies) *run {
	return &run{
		board: b, patch: patch.UID, generation: patch.Generation, bodies: content,
		seen: map[string]bool{}, matched: map[string]spot{}, failed: map[string]string{},
	}
}

// note says what came of the bodies for one object of component: at is where they speak of it. What the rendering
// before had matched counts until the component's turn has come again. It is said at once, so that nobody who looks
// meanwhile sees an object rendered that isn't matched yet.
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

// found is what is known of a patch.
type found struct {
	matched, unmatched []string
	failed             map[string]string
}

// look returns what the latest rendering made of a generation of a patch; ok is false when there was none
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

// ask notes whether the fate of a generation of a patch is still to be found out.
func (b *board) ask(patch types.UID, generation int64, unsettled bool, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !unsettled {
		delete(b.since, patch)
		return
	}
	if asked, ok := b.since[patch]; ok && asked.generation == generation {
		return
	}
	if b.since == nil {
		b.since = map[types.UID]question{}
	}
	b.since[patch] = question{generation, now}
}

// waiting tells since when it is asked for.
func (b *board) waiting(patch types.UID) (since time.Time, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	asked, ok := b.since[patch]
	return asked.since, ok
}

// forget drops what is known of a patch that goes.
func (b *board) forget(patch types.UID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.runs, patch)
	delete(b.since, patch)
}

func sorted(names map[string]bool) []string { return slices.Sorted(maps.Keys(names)) }
