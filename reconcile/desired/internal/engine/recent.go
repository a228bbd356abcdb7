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
	parents map[deploy.Ref]writes
}

// writes are the latest writes of the children of a parent.
type writes struct {
	// since is the time of the first reconcile of the parent: another process may have written its children before.
	since time.Time
	// of are the writes by child, nil for none.
	of map[types.UID]write
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
	w := r.begun(parent, now)
	if w.of == nil {
		w.of = map[types.UID]write{}
		r.parents[parent] = w
	}
	maps.DeleteFunc(w.of, func(_ types.UID, old write) bool { return now.Sub(old.at) > settling })
	w.of[after.GetUID()] = write{now, statusOf(after)}
}

// begin notes that a parent is reconciled now, and returns the time of its first reconcile since it was forgotten.
func (r *recent) begin(parent deploy.Ref, now time.Time) (since time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.begun(parent, now).since
}

// begun returns what is remembered of a parent, which begins now if it is new. The caller holds mu.
func (r *recent) begun(parent deploy.Ref, now time.Time) writes {
	w, known := r.parents[parent]
	if known {
		return w
	}
	if r.parents == nil {
		r.parents = map[deploy.Ref]writes{}
	}
	w = writes{since: now}
	r.parents[parent] = w
	return w
}

// of returns the latest write of a child, if it is remembered. It is forgotten after settling, at the earliest.
func (r *recent) of(parent deploy.Ref, child types.UID) (w write, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w, known = r.parents[parent].of[child]
	return w, known
}

// forget forgets a parent that is gone, or that another process reconciles.
func (r *recent) forget(parent deploy.Ref) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.parents, parent)
}
