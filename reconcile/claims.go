package reconcile

import (
	"cmp"
	"errors"
	"fmt"
	"sync"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// claims finds objects that are rendered more than once: each would undo what the other wrote, with every
// reconcile anew. The versions of a kind are the same objects.
type claims struct {
	mu      sync.Mutex
	holders map[identity]*Component
}

type identity struct {
	kind            schema.GroupKind
	namespace, name string
}

func (s *Session) identityOf(obj *unstructured.Unstructured) identity {
	ref := deploy.RefOf(obj)
	return identity{ref.Kind.GroupKind(), cmp.Or(ref.Namespace, s.Namespace()), ref.Name}
}

// claim notes the objects of c, or tells which of them another component has.
func (l *claims) claim(s *Session, c *Component, objects []*renderedObject) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	for _, o := range objects {
		id := s.identityOf(o.content)
		switch holder := l.holders[id]; {
		case id.name == "":
		case holder == nil:
			if l.holders == nil {
				l.holders = map[identity]*Component{}
			}
			l.holders[id] = c
		case holder == c:
			errs = append(errs, fmt.Errorf("component %s: %s is in it twice", c.name, deploy.RefOf(o.content)))
		default:
			errs = append(errs, fmt.Errorf("component %s: %s is in component %s already: leave it out of one", c.name, deploy.RefOf(o.content), holder.name))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return &classified{class: classRollout, err: err}
	}
	return nil
}
