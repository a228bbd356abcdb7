package operator

import (
	"errors"
	"fmt"
	"sync"

	"github.com/operkit/operkit/reconcile/watch"
)

// health is how the work of the process stands, for probes.
type health struct {
	// standby tells that the process may have to wait for its turn to work. Meanwhile it is well and ready: it has nothing to
	// do, and a rolling update waits for it.
	standby bool

	mu sync.Mutex
	// engines are those that work.
	engines []*watch.Engine
}

// works notes that an engine does.
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

// alive is why the process should be started anew, nil if it makes progress (spec: watch mistake 20).
func (h *health) alive() error {
	for _, engine := range h.working() {
		if s := engine.State(); s.Stalled() {
			return fmt.Errorf("%d resources wait, and each of %d workers is stuck, the first with %s since %s",
				s.Waiting, s.Workers, s.Running[0].Key, s.Running[0].Since.UTC().Format("15:04:05"))
		}
	}
	return nil
}

// ready is why the process doesn't know the cluster yet, nil if it does.
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
