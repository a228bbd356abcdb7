package reconcile

import (
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/types"
)

// Forget has nothing kept of a resource that is gone, or that left the view and isn't reconciled any more. It implements
// watch.Forgetter; it never waits.
func (r *Reconciler) Forget(key deploy.Ref) {
	r.forget(deploy.Ref{Kind: r.Kind(), Namespace: key.Namespace, Name: key.Name})
}

// forget drops what is known of a resource that isn't there any more.
func (r *Reconciler) forget(ref deploy.Ref) {
	r.attempts.forget(ref)
	r.furthest.forget(ref)
	r.pauses.forget(ref)
	r.tallied.forget(ref)
	r.unwritten.forget(ref)
	r.remade.forget(ref)
	r.regrown.forget(ref)
}

// pauses remembers which resources are paused, or would be if their annotation made sense, and what was told of that.
// The zero value is ready for use; it is safe for concurrent use.
type pauses struct {
	mu    sync.Mutex
	known map[deploy.Ref]*noted
}

// noted is one pause of one resource.
type noted struct {
	uid   types.UID
	value string
	rests bool
	until time.Time
	told  bool
}

// is tells whether it is that pause of that resource.
func (n *noted) is(uid types.UID, p pause) bool {
	return n != nil && n.uid == uid && n.value == p.value
}

// note takes note of a pause. It answers whether that is to be told yet.
func (p *pauses) note(ref deploy.Ref, uid types.UID, now pause) (untold bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if known := p.known[ref]; known.is(uid, now) {
		return !known.told
	}
	if p.known == nil {
		p.known = map[deploy.Ref]*noted{}
	}
	p.known[ref] = &noted{uid: uid, value: now.value, rests: now.rests, until: now.until}
	return true
}

// told takes note that a pause was told of.
func (p *pauses) told(ref deploy.Ref, uid types.UID, now pause) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if known := p.known[ref]; known.is(uid, now) {
		known.told = true
	}
}

func (p *pauses) forget(ref deploy.Ref) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.known, ref)
}
