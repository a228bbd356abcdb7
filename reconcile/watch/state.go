package watch

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/logging"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// State is what an engine does at one moment, for health, metrics and whoever wants to know.
type State struct {
	// Unread is how many events have come that nobody has looked at yet: many for long means that a filter, a mapping or
	// an Observer blocks. Waiting is how many objects wait for a worker, Timers how many come again with time.
	Unread, Waiting, Timers int
	// Failing is how many objects' last reconciles failed and are tried again, LongestBackoff the longest time between two
	// tries of one of them by Backoff.
	Failing        int
	LongestBackoff time.Duration
	// Workers is how many objects may be reconciled at once, Running those that are.
	Workers int
	Running []Running
	// LastStart is when a reconcile was last begun, zero if none was.
	LastStart time.Time
	// Events and Reconciles count the events that came and the reconciles that have ended, since the beginning.
	Events, Reconciles uint64
	// Kinds are those that are watched or should be, by group, kind and version.
	Kinds []KindState
}

// Running is one reconcile under way.
type Running struct {
	// Key names the object, Since is when it began.
	Key   deploy.Ref
	Since time.Time
	// Stuck tells that it should have returned: the time that one may take has been over for a tenth of it.
	Stuck bool
}

// KindState is how it stands with one kind.
type KindState struct {
	// Kind is in the version that is watched.
	Kind schema.GroupVersionKind
	// Reason is why its objects can't be watched yet, nil once they are known.
	Reason error
}

// Stalled tells that nothing can make progress: objects wait, and each worker is stuck. It is the engine's part of a
// liveness check; a restart is all that helps, since a reconcile that doesn't heed its context can't be ended.
func (s State) Stalled() bool {
	stuck := 0
	for _, running := range s.Running {
		if running.Stuck {
			stuck++
		}
	}
	return s.Waiting > 0 && stuck > 0 && stuck == s.Workers
}

// State says what the engine does at present. It is cheap, however many objects there are, and doesn't wait for any of
// them: it may be asked each second. Before Run, such as on a replica that doesn't lead, it says that there is nothing to do.
func (e *Engine) State() State {
	waiting := e.queue.State()
	s := State{
		Unread: e.inbox.size(), Waiting: waiting.Waiting, Timers: waiting.Timers, LastStart: waiting.Taken, Workers: len(e.slots),
		Events: e.events.Load(), Reconciles: e.reconciles.Load(), Kinds: e.kinds.all(),
	}
	s.Failing, s.LongestBackoff = e.backoff.state()
	for _, slot := range e.slots {
		if running, busy := slot.present(); busy {
			s.Running = append(s.Running, running)
		}
	}
	slices.SortFunc(s.Running, func(a, b Running) int { return a.Since.Compare(b.Since) })
	return s
}

// slot is one worker's: what it reconciles at present.
type slot struct {
	// patience is how long one reconcile may take until it is stuck.
	patience time.Duration
	logger   *slog.Logger

	mu      sync.Mutex
	busy    bool
	running Running
	// scope is that of the log's lines about the reconcile under way.
	scope context.Context
	// watchdog looks when the reconcile would be stuck that was under way when it was set; nil when none is set.
	watchdog *time.Timer
}

func (s *slot) begin(scope context.Context, key deploy.Ref) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy, s.running, s.scope = true, Running{Key: key, Since: time.Now()}, scope
	if s.watchdog == nil {
		s.watchdog = time.AfterFunc(s.patience, s.look)
	}
}

// look tells of a reconcile that is stuck, once.
func (s *slot) look() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watchdog = nil
	if !s.busy {
		return
	}
	if left := s.patience - time.Since(s.running.Since); left > 0 { // another one, that began meanwhile
		s.watchdog = time.AfterFunc(left, s.look)
		return
	}
	s.running.Stuck = true
	logging.Scoped(s.scope, s.logger).Error("a reconcile is stuck: it doesn't return although its context has ended",
		"object", s.running.Key, "since", s.running.Since)
}

func (s *slot) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running.Stuck {
		logging.Scoped(s.scope, s.logger).Warn("a reconcile that was stuck has returned", "object", s.running.Key, "after", time.Since(s.running.Since))
	}
	s.busy, s.running, s.scope = false, Running{}, nil
}

// stop ends the slot's watch.
func (s *slot) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watchdog != nil {
		s.watchdog.Stop()
	}
}

func (s *slot) present() (running Running, busy bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running, s.busy
}

// kinds say of each kind, for each reason to watch it, why it isn't yet. The zero value is ready for use.
type kinds struct {
	mu      sync.Mutex
	reasons map[ownership]error
}

func (k *kinds) set(kind ownership, reason error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.reasons == nil {
		k.reasons = map[ownership]error{}
	}
	k.reasons[kind] = reason
}

func (k *kinds) all() []KindState {
	k.mu.Lock()
	defer k.mu.Unlock()
	reasons := map[schema.GroupVersionKind]error{}
	for kind, reason := range k.reasons {
		reasons[kind.watched()] = cmp.Or(reason, reasons[kind.watched()])
	}
	var all []KindState
	for kind, reason := range reasons {
		all = append(all, KindState{kind, reason})
	}
	slices.SortFunc(all, func(a, b KindState) int {
		return cmp.Or(cmp.Compare(a.Kind.Group, b.Kind.Group), cmp.Compare(a.Kind.Kind, b.Kind.Kind), cmp.Compare(a.Kind.Version, b.Kind.Version))
	})
	return all
}
