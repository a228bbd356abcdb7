package reconcile

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// An object that comes back regrownLimit times within regrownWindow after it was pruned is pruned once in regrownPause
// from then on, until it has stayed away for regrownPeace.
const (
	regrownLimit  = 3
	regrownWindow = 10 * time.Minute
	regrownPause  = time.Minute
	regrownPeace  = 2 * regrownPause
)

// regrown remembers which objects were pruned and when. An object that this process doesn't render and that comes back
// again and again is rendered by another process of the same name: the two would create and delete it for ever. The
// zero value is ready for use; it is safe for concurrent use.
type regrown struct {
	mu    sync.Mutex
	known map[place]prunings
}

// prunings are the latest times at which objects of a resource were pruned, for one generation of it: with each change
// of the resource another replica may have rendered them in between.
type prunings struct {
	generation int64
	times      map[deploy.Ref][]time.Time
}

// pruned records that an object of a session's resource was pruned.
func (r *regrown) pruned(s *Session, ref deploy.Ref) {
	now, generation := s.now(), s.resource.GetGeneration()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil {
		r.known = map[place]prunings{}
	}
	known, there := r.known[s.place()]
	if !there || known.generation != generation {
		known = prunings{generation, map[deploy.Ref][]time.Time{}}
		r.known[s.place()] = known
	}
	for other, times := range known.times {
		if now.Sub(times[len(times)-1]) > regrownWindow {
			delete(known.times, other)
		}
	}
	times := append(known.times[ref], now)
	known.times[ref] = times[max(len(times)-regrownLimit, 0):]
}

// fought returns the objects of the resource at a place that came back too often, with the time since each was pruned
// last. One that has stayed away for regrownPeace isn't among them.
func (r *regrown) fought(at place, now time.Time) map[deploy.Ref]time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := map[deploy.Ref]time.Duration{}
	for ref, times := range r.known[at].times {
		since := now.Sub(times[len(times)-1])
		if len(times) == regrownLimit && times[regrownLimit-1].Sub(times[0]) <= regrownWindow && since < regrownPeace {
			found[ref] = since
		}
	}
	return found
}

// made forgets the objects that a session has created itself: they come back because this process renders them again.
func (r *regrown) made(s *Session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.known[s.place()].times
	if len(known) == 0 {
		return
	}
	for _, c := range s.components {
		for _, result := range c.results {
			if result.Action == deploy.Created {
				delete(known, result.Ref)
			}
		}
	}
}

func (r *regrown) forget(ref deploy.Ref) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.known, place{ref.Namespace, ref.Name})
}

// place is where the resource is.
func (s *Session) place() place { return place{s.resource.GetNamespace(), s.resource.GetName()} }

// fightsFor reports whether obj isn't pruned now, because it would come back.
func (s *Session) fightsFor(obj *unstructured.Unstructured) bool {
	since, fought := s.regrown.fought(s.place(), s.now())[deploy.RefOf(obj)]
	return fought && since < regrownPause
}

// regrownErr names the objects that another process makes again and again, nil if there are none.
func (s *Session) regrownErr() error {
	fought := s.regrown.fought(s.place(), s.now())
	var errs []error
	for _, ref := range slices.SortedFunc(maps.Keys(fought), func(a, b deploy.Ref) int { return strings.Compare(a.String(), b.String()) }) {
		next := regrownPause
		if fought[ref] >= regrownPause {
			next = regrownPeace
		}
		manager := s.manager.FieldManager()
		errs = append(errs, &deploy.ConflictError{
			Ref: ref, Fought: true, SameManager: true, RetryAfter: next - fought[ref],
			Fields: []deploy.FieldConflict{{Manager: manager, Message: fmt.Sprintf("conflict with %q", manager)}},
		})
	}
	return errors.Join(errs...)
}
