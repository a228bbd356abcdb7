package reconcile

import (
	"sync"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/types"
)

// perSpec is a number about one spec of each resource; that of another one starts anew at zero. The zero value is ready for use; it is safe for
// concurrent use.
type perSpec struct {
	mu    sync.Mutex
	known map[deploy.Ref]ofSpec
}

type ofSpec struct {
	uid        types.UID
	generation int64
	number     int
}

// change has the number of a session's resource be what next makes of it.
func (p *perSpec) change(s *Session, next func(before int) int) (before, now int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	ref, current := deploy.RefOf(s.resource), ofSpec{uid: s.resource.GetUID(), generation: s.resource.GetGeneration()}
	if last := p.known[ref]; last.uid == current.uid && last.generation == current.generation {
		before = last.number
	}
	current.number = next(before)
	if p.known == nil {
		p.known = map[deploy.Ref]ofSpec{}
	}
	p.known[ref] = current
	return before, current.number
}

func (p *perSpec) forget(ref deploy.Ref) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.known) > 0 {
		delete(p.known, ref)
	}
}
