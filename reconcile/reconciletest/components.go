package reconciletest

import "github.com/operkit/operkit/deploy"

// Components returns the component of each object that sessions have rendered so far, also of objects that are gone.
// The kinds of the keys have no version. It is empty for a controller of another style.
func (h *Harness) Components() map[deploy.Ref]string {
	h.faults.mu.Lock()
	defer h.faults.mu.Unlock()
	components := make(map[deploy.Ref]string, len(h.faults.members))
	for ref, m := range h.faults.members {
		components[ref] = m.component
	}
	return components
}
