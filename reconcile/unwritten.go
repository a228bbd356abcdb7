package reconcile

import (
	"sync"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// unwritten holds of which kinds a resource may have objects although its status doesn't name them: they were applied
// by a reconcile that ended without a word, since what went wrong usually passes, or that couldn't write the status.
// Should the resource give a kind up before the status is written, its objects are found all the same. The zero value
// is ready for use; it is safe for concurrent use.
type unwritten struct {
	mu    sync.Mutex
	known map[deploy.Ref][]schema.GroupVersionKind
}

func (u *unwritten) of(ref deploy.Ref) []schema.GroupVersionKind {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.known[ref]
}

// keep notes the kinds of an outcome that isn't in the status; nil is that of a reconcile that applied nothing.
func (u *unwritten) keep(ref deploy.Ref, o *Outcome) {
	if o == nil || len(o.kinds) == 0 {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.known == nil {
		u.known = map[deploy.Ref][]schema.GroupVersionKind{}
	}
	u.known[ref] = o.kinds
}

func (u *unwritten) forget(ref deploy.Ref) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.known, ref)
}
