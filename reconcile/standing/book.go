package standing

import (
	"maps"
	"sync"

	"github.com/operkit/operkit/deploy"
)

// Book keeps the Standing of each resource, for a reconciler of your own. A reconciler that embeds a Book is a Provider
// and a watch.Forgetter. The zero value is ready for use; it is safe for concurrent use.
type Book struct {
	mu     sync.Mutex
	known  map[deploy.Ref]Standing
	counts map[Standing]int
}

// Set records how a resource stands. The empty Standing forgets the resource.
func (b *Book) Set(resource deploy.Ref, s Standing) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.known == nil {
		b.known, b.counts = map[deploy.Ref]Standing{}, map[Standing]int{}
	}
	if before, ok := b.known[resource]; ok {
		if b.counts[before]--; b.counts[before] == 0 {
			delete(b.counts, before)
		}
	}
	if s == "" {
		delete(b.known, resource)
		return
	}
	b.known[resource] = s
	b.counts[s]++
}

// Forget forgets a resource that is gone or has left the view. The engine may call it while the last reconcile of the
// resource runs. So call it in Reconcile, too, if the resource is gone.
func (b *Book) Forget(resource deploy.Ref) { b.Set(resource, "") }

// Tally counts the resources in the Book by their Standing.
func (b *Book) Tally() Tally {
	b.mu.Lock()
	defer b.mu.Unlock()
	return Tally{Resources: maps.Clone(b.counts)}
}
