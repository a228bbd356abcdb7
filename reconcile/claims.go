package reconcile

import (
	"cmp"
	"fmt"
	"sync"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// claims finds objects that are rendered more than once: each would undo what the other wrote, with every
// reconcile anew. The versions of a kind are the same objects.
type claims struct {
	mu      sync.Mutex
	holders map[identity]*Object
}

type identity struct {
	kind            schema.GroupKind
	namespace, name string
}

func (s *Session) identityOf(ref deploy.Ref) identity {
	return identity{ref.Kind.GroupKind(), cmp.Or(ref.Namespace, s.home), ref.Name}
}

// expect makes room for n claims. Those of components that were rendered before the rollout stay.
func (l *claims) expect(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.holders) == 0 {
		l.holders = make(map[identity]*Object, n)
	}
}

// claim has o hold the object that it is rendered as, in place of any other one, or tells which component has
// that already. What has no name yet holds nothing.
func (s *Session) claim(o *Object, ref deploy.Ref) error {
	if ref == o.ref && o.claimed.name != "" {
		return nil // it has been claimed as it was added
	}
	l, id := &s.claims, s.identityOf(ref)
	l.mu.Lock()
	defer l.mu.Unlock()
	if o.claimed != id && o.claimed.name != "" {
		delete(l.holders, o.claimed)
		o.claimed = identity{}
	}
	if id.name == "" {
		return nil
	}
	switch holder := l.holders[id]; {
	case holder == nil:
		if l.holders == nil {
			l.holders = map[identity]*Object{}
		}
		l.holders[id], o.claimed = o, id
		return nil
	case holder == o:
		return nil
	case holder.component == o.component:
		return fmt.Errorf("%s is in it twice", ref)
	default:
		return fmt.Errorf("%s is in component %s already: leave it out of one", ref, holder.component.name)
	}
}

// release gives up what the objects hold.
func (l *claims) release(objects []*Object) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, o := range objects {
		if l.holders[o.claimed] == o {
			delete(l.holders, o.claimed)
		}
	}
}

// wanted tells whether an enabled component has rendered what id names.
func (l *claims) wanted(id identity) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	holder := l.holders[id]
	return holder != nil && !holder.component.disabled
}
