package reconcile

import (
	"sync"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/types"
)

// furthest is how far the reconciles of a resource got that failed: one that gets further isn't stuck, and needn't wait the longer for the
// failures before it. The zero value is ready for use; it is safe for concurrent use.
type furthest struct {
	mu    sync.Mutex
	known map[deploy.Ref]reached
}

// reached is about one spec of one resource: another one starts anew.
type reached struct {
	uid        types.UID
	generation int64
	// objects are how many were as they should be.
	objects int
}

// passedBy notes how far a session got that failed, and tells whether that is further than any before it. It can't be so more often than
// the resource has objects.
func (f *furthest) passedBy(s *Session) bool {
	ref, now := deploy.RefOf(s.resource), reached{uid: s.resource.GetUID(), generation: s.resource.GetGeneration()}
	for _, c := range s.components {
		for _, result := range c.results {
			if result.Err == nil {
				now.objects++
			}
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	last, known := f.known[ref]
	if known && last.uid == now.uid && last.generation == now.generation && now.objects <= last.objects {
		return false
	}
	if f.known == nil {
		f.known = map[deploy.Ref]reached{}
	}
	f.known[ref] = now
	return true
}

func (f *furthest) forget(ref deploy.Ref) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.known) > 0 {
		delete(f.known, ref)
	}
}
