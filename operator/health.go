package operator

import (
	"errors"
	"fmt"
	"sync"

	"github.com/operkit/operkit/reconcile/watch"
)

// health has the state that the probes report.
type health struct {
	// standby is true if the process may have to wait for the leadership. A process that waits reports that it is
	// ready, because a rolling update waits until the new Pod is ready.
	standby bool

	mu sync.Mutex
	// engines are the running engines.
	engines []*watch.Engine
}

// works adds a running engine.
func (h *health) works(engine *watch.Engine) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.engines = append(h.engines, engine)
}

func (h *health) working() []*watch.Engine {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.engines
}

// alive returns the reason to restart the process, or nil if the process makes progress.
func (h *health) alive() error {
	for _, engine := range h.working() {
		if s := engine.State(); s.Stalled() {
			return fmt.Errorf("resources wait (%d), and all workers are stuck (%d): the first one has worked on %s since %s",
				s.Waiting, s.Workers, s.Running[0].Key, s.Running[0].Since.UTC().Format("15:04:05"))
		}
	}
	return nil
}

// ready returns an error about the kinds that the process hasn't read yet, or nil.
func (h *health) ready() error {
	working := h.working()
	if len(working) == 0 && !h.standby {
		return errors.New("nothing is watched yet")
	}
	var missing []error
	for _, engine := range working {
		kinds := engine.State().Kinds
		if len(kinds) == 0 {
			missing = append(missing, errors.New("nothing is watched yet"))
		}
		for _, kind := range kinds {
			if kind.Reason != nil {
				missing = append(missing, fmt.Errorf("%s: %w", kind.Kind.Kind, kind.Reason))
			}
		}
	}
	return errors.Join(missing...)
}
