package dag

import (
	"errors"
	"fmt"
)

// Validate checks what every run relies on: that each dependency is between two nodes of the
// graph, and that none of them closes a cycle. Add and Depend refuse what would break that, so
// an error, which [Run] reports as well, means that the memory of the graph was damaged, such
// as by copying a Graph in use.
func (g *Graph[T]) Validate() error {
	p, _ := g.snapshot()
	return p.err
}

// validate needs one look at each edge: an order in which every child comes before its parent
// proves that there is no cycle.
func (s *structure) validate() error {
	var errs []error
	known := func(id int32) bool { return id >= 0 && int(id) < len(s.nodes) }
	for _, e := range s.edges {
		switch {
		case e.parent == none: // removed
		case !known(e.parent):
			errs = append(errs, &UnknownNodeError{Name: fmt.Sprintf("#%d", e.parent), Role: RoleParent})
		case !known(e.child):
			errs = append(errs, &UnknownNodeError{Name: fmt.Sprintf("#%d", e.child), Role: RoleChild})
		case !s.order.before(e.child, e.parent):
			errs = append(errs, fmt.Errorf("node %q: is ordered before %q, for which it waits",
				s.names[e.parent], s.names[e.child]))
		}
	}
	return errors.Join(errs...)
}
