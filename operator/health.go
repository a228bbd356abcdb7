package operator

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/operkit/operkit/reconcile/peering"
	"github.com/operkit/operkit/reconcile/watch"
)

// health has the state that the probes report.
type health struct {
	// standby is true if the process may have to wait for the leadership. A process that waits reports that it is
	// ready, because a rolling update waits until the new Pod is ready.
	standby bool

	// comeAndGo is true if there may be no kind for a while, because kinds come and go.
	comeAndGo bool

	mu sync.Mutex
	// stage is the part of the start that is under way, empty when the process has started.
	stage string
	// engines are the running engines.
	engines []*watch.Engine
	// peers is what the process does because of its peers, empty before it knows them. paused: it pauses.
	peers  string
	paused bool
}

// starting sets the part of the start that is under way, empty when the process has started.
func (h *health) starting(stage string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stage = stage
}

// works adds a running engine.
func (h *health) works(engine *watch.Engine) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.engines = append(h.engines, engine)
}

// judged sets what the process does because of its peers.
func (h *health) judged(v peering.Verdict) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.peers, h.paused = v.String(), v.Paused()
}

// rests drops the engines, which have ended.
func (h *health) rests() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.engines = nil
}

// peering returns what the process does because of its peers, and whether it pauses.
func (h *health) peering() (text string, paused bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return cmp.Or(h.peers, "waits"), h.paused
}

func (h *health) working() (engines []*watch.Engine, stage string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.engines, h.stage
}

// alive returns the reason to restart the process, or nil if the process makes progress.
func (h *health) alive() error {
	engines, _ := h.working()
	for _, engine := range engines {
		if s := engine.State(); s.Stalled() {
			stuck := slices.DeleteFunc(s.Running, func(r watch.Running) bool { return !r.Stuck })
			return fmt.Errorf("resources wait (%d), and all workers that could reconcile some of them are stuck (%d): the first one has worked on %s since %s",
				s.Waiting, len(stuck), stuck[0].Key, stuck[0].Since.UTC().Format("15:04:05"))
		}
	}
	return nil
}

// ready returns an error about the part of the start that is under way, or about the kinds that the process hasn't read
// yet, or nil.
func (h *health) ready() error {
	working, stage := h.working()
	if _, paused := h.peering(); paused { // it is as ready as it can be, and a rolling update must not wait for its peers
		return nil
	}
	if stage != "" {
		return fmt.Errorf("the operator is starting: %s", stage)
	}
	if len(working) == 0 && !h.standby {
		return errors.New("nothing is watched yet")
	}
	var missing []error
	for _, engine := range working {
		kinds := engine.State().Kinds
		if len(kinds) == 0 && !h.comeAndGo {
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
