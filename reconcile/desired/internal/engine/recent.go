package engine

import (
	"maps"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// recent remembers the latest writes of the children of each parent: when they were made, and what the status was then.
// The status is about the state before the write until it changes. What a View shows of the managers of fields doesn't
// tell that: it may leave out the entries of the status, and the times. The zero value is empty. It is safe for
// concurrent use.
type recent struct {
	mu      sync.Mutex
	parents map[deploy.Ref]map[types.UID]write
}

// write is a write of a child.
type write struct {
	at     time.Time
	status map[string]any
}

// note remembers the write of a child of a parent. before is the child before the write, nil if it was created. A write
// that has changed no generation leaves its status valid.
func (r *recent) note(parent deploy.Ref, result deploy.Result, before *unstructured.Unstructured, now time.Time) {
	after := result.Object
	if !result.Changed() || after == nil || result.Action == deploy.Removed {
		return
	}
	isSame := before != nil && before.GetUID() == after.GetUID() && before.GetGeneration() == after.GetGeneration()
	if isSame && after.GetGeneration() > 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.parents == nil {
		r.parents = map[deploy.Ref]map[types.UID]write{}
	}
	if r.parents[parent] == nil {
		r.parents[parent] = map[types.UID]write{}
	}
	maps.DeleteFunc(r.parents[parent], func(_ types.UID, old write) bool { return now.Sub(old.at) > settling })
	r.parents[parent][after.GetUID()] = write{now, statusOf(after)}
}

// of returns the latest write of a child, if it is remembered. It is forgotten after settling, at the earliest.
func (r *recent) of(parent deploy.Ref, child types.UID) (w write, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w, known = r.parents[parent][child]
	return w, known
}

// forget forgets the children of a parent that is gone.
func (r *recent) forget(parent deploy.Ref) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.parents, parent)
}
