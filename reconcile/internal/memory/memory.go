package memory

import (
	"maps"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/standing"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Memory remembers the resources of one kind. The zero value is ready for use; it is safe for concurrent use.
type Memory struct {
	mu    sync.Mutex
	known map[name]*Resource
	sums  sums
}

// name names a resource; the versions of its kind are the same resource.
type name struct{ namespace, name string }

func nameOf(ref deploy.Ref) name { return name{ref.Namespace, ref.Name} }

// Resource is what is remembered of one resource. It is valid only inside the function that Update or Look passes it
// to.
type Resource struct {
	spec  spec
	pause pause
	count Count
	hang  hang
	// changes are those of the rollout that is under way.
	changes Changes
	// Unwritten are kinds that the status of the resource doesn't name, although the resource may have objects of these
	// kinds: a reconcile applied the objects and couldn't write the status.
	Unwritten []schema.GroupVersionKind

	// generation is the generation of the resource in which the recorded objects were pruned.
	generation int64
	objects    map[deploy.Ref]*object
}

// Update calls f with the memory of a resource, which f may change. It holds the lock meanwhile: f must not block.
func (m *Memory) Update(resource deploy.Ref, f func(*Resource)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	entry := m.known[nameOf(resource)]
	if entry == nil {
		if m.known == nil {
			m.known = map[name]*Resource{}
		}
		entry = &Resource{}
		m.known[nameOf(resource)] = entry
	}
	before := entry.count
	f(entry)
	m.sums.change(before, entry.count)
}

// Look calls f with the memory of a resource, the zero value if there is none. f must neither block nor change the
// memory.
func (m *Memory) Look(resource deploy.Ref, f func(*Resource)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	entry := m.known[nameOf(resource)]
	if entry == nil {
		entry = &Resource{}
	}
	f(entry)
}

// Forget drops what is known of a resource that is gone or isn't reconciled any more.
func (m *Memory) Forget(resource deploy.Ref) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if entry := m.known[nameOf(resource)]; entry != nil {
		m.sums.change(entry.count, Count{})
		delete(m.known, nameOf(resource))
	}
}

// Len returns how many resources are remembered.
func (m *Memory) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.known)
}

// States is the number of states that a component may have.
const States = 5

// Count is what one resource adds to the sums. The zero value adds nothing.
type Count struct {
	// Standing is empty for a resource that isn't counted.
	Standing standing.Standing
	// Components counts its components by state, in the order that the caller gives the states.
	Components [States]int32
	Version    string
	// Contested is the number of its objects that somebody else changes again and again.
	Contested int32
	// Failure is the error that was reported last, empty for none.
	Failure string
	// Kept names the objects that weren't pruned because their deletion would also delete data.
	Kept string
}

// sums are the counts of all resources.
type sums struct {
	resources  map[standing.Standing]int
	versions   map[string]int
	components [States]int
	contested  int
}

// Tally returns the counts of all resources. states names the states of components, in the order of
// Count.Components. The maps are the caller's own.
func (m *Memory) Tally(states []string) standing.Tally {
	m.mu.Lock()
	defer m.mu.Unlock()
	tally := standing.Tally{Resources: maps.Clone(m.sums.resources), Versions: maps.Clone(m.sums.versions), Contested: m.sums.contested}
	if len(states) > 0 {
		tally.Components = map[string]int{}
	}
	for i, state := range states {
		tally.Components[state] = m.sums.components[i]
	}
	return tally
}

func (s *sums) change(from, to Count) {
	if from == to {
		return
	}
	if s.resources == nil {
		s.resources, s.versions = map[standing.Standing]int{}, map[string]int{}
	}
	add(s.resources, from.Standing, -1)
	add(s.resources, to.Standing, 1)
	add(s.versions, from.Version, -1)
	add(s.versions, to.Version, 1)
	for i := range s.components {
		s.components[i] += int(to.Components[i] - from.Components[i])
	}
	s.contested += int(to.Contested - from.Contested)
}

func add[K ~string](counts map[K]int, key K, by int) {
	if key == "" {
		return
	}
	if counts[key] += by; counts[key] == 0 {
		delete(counts, key)
	}
}

// Count returns how the resource is counted.
func (r *Resource) Count() Count { return r.count }

// SetCount counts the resource anew.
func (r *Resource) SetCount(c Count) { r.count = c }

// spec identifies one spec of a resource, and holds how its reconciles failed.
type spec struct {
	uid        types.UID
	generation int64
	// failures is the number of failures in a row. advanced is the largest number of objects that were as they should
	// be after one of these failures.
	failures, advanced int
}

func (r *Resource) at(resource *unstructured.Unstructured) *spec {
	if uid, generation := resource.GetUID(), resource.GetGeneration(); r.spec.uid != uid || r.spec.generation != generation {
		r.spec = spec{uid: uid, generation: generation}
	}
	return &r.spec
}

// Fail counts a failure of the resource's present spec, and returns the number of failures in a row.
func (r *Resource) Fail(resource *unstructured.Unstructured) int {
	of := r.at(resource)
	of.failures++
	return of.failures
}

// ForgetFailures sets the number of failures to zero.
func (r *Resource) ForgetFailures() { r.spec.failures = 0 }

// Advance records how many objects of the resource are as they should be after a failure, and reports whether there are
// more than after any earlier failure with the present spec.
func (r *Resource) Advance(resource *unstructured.Unstructured, objects int) bool {
	of := r.at(resource)
	further := objects > of.advanced
	of.advanced = max(of.advanced, objects)
	return further
}

// ForgetAdvance forgets, after a success, what Advance recorded.
func (r *Resource) ForgetAdvance() { r.spec.advanced = 0 }

// hang is why the deletion of a resource hangs, as it was reported last.
type hang struct {
	reason string
	at     time.Time
}

// Hangs records why the deletion of a resource hangs, empty for no reason, and reports whether this is to be reported: a
// reason that isn't empty, if nothing was reported within the time pause, or the same reason within the time reminder.
func (r *Resource) Hangs(reason string, now time.Time, pause, reminder time.Duration) bool {
	if reason == "" {
		return false
	}
	since := pause
	if reason == r.hang.reason {
		since = reminder
	}
	if !r.hang.at.IsZero() && now.Sub(r.hang.at) < since {
		return false
	}
	r.hang = hang{reason, now}
	return true
}

// pause is the value of the annotation that pauses a resource, and whether it was reported.
type pause struct {
	uid      types.UID
	value    string
	reported bool
}

// Pause records a value of the annotation, and returns whether it was reported already.
func (r *Resource) Pause(uid types.UID, value string) (reported bool) {
	if r.pause.uid != uid || r.pause.value != value {
		r.pause = pause{uid: uid, value: value}
	}
	return r.pause.reported
}

// PauseReported records that the value was reported.
func (r *Resource) PauseReported() { r.pause.reported = true }

// EndPause forgets the annotation.
func (r *Resource) EndPause() { r.pause = pause{} }
