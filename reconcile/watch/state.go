package watch

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/trigger"
	"github.com/operkit/operkit/reconcile/logging"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// State is the state of an engine at one moment, for health checks and metrics.
type State struct {
	// Unread is the number of unprocessed events: if it stays high, a filter, a mapping or an Observer blocks. Waiting
	// is the number of objects that wait for a worker, Timers the number that will be reconciled at a later time.
	Unread, Waiting, Timers int
	// Failing is how many objects are retried after a failure, LongestBackoff is the longest time that Backoff sets
	// between two retries of such an object.
	Failing        int
	LongestBackoff time.Duration
	// Workers is how many objects may be reconciled concurrently. Running are the reconciles under way.
	Workers int
	Running []Running
	// LastStart is when a reconcile was last begun, zero if none was.
	LastStart time.Time
	// Events counts the events that came since the beginning, and Reconciles the reconciles that have ended.
	Events, Reconciles uint64
	// Kinds are the kinds that are watched or should be watched, sorted by group, kind and version.
	Kinds []KindState

	// full are the kinds of which objects wait because as many are reconciled as the Workers of the kind allow, with
	// that number.
	full map[schema.GroupKind]int
}

// Running is one reconcile under way.
type Running struct {
	// Key names the object, Since is when it began.
	Key   deploy.Ref
	Since time.Time
	// Stuck: the reconcile hasn't returned, although its context ended more than a tenth of the Timeout ago.
	Stuck bool
}

// KindState is the state of one kind.
type KindState struct {
	// Kind is in the version that is watched.
	Kind schema.GroupVersionKind
	// Reason is why the objects of the kind can't be watched yet, nil when they are known.
	Reason error
}

// Stalled reports whether the engine can't make progress: objects wait, and every worker that may reconcile them is
// stuck. Use it in a liveness check: only a restart helps, since a reconcile that ignores its context can't be ended.
func (s State) Stalled() bool {
	stuck, of := 0, map[schema.GroupKind]int{}
	for _, running := range s.Running {
		if running.Stuck {
			stuck++
			of[running.Key.Kind.GroupKind()]++
		}
	}
	for kind, limit := range s.full {
		if limit > 0 && of[kind] >= limit {
			return true
		}
	}
	return s.Waiting > 0 && stuck > 0 && stuck == s.Workers
}

// State returns what the engine does now. It is cheap, however many objects there are, and never waits for a reconcile.
// Before Run, for example on a replica that doesn't lead, the engine does nothing.
func (e *Engine) State() State {
	waiting := e.queue.State()
	s := State{
		Unread: e.inbox.size(), Waiting: waiting.Waiting, Timers: waiting.Timers, LastStart: waiting.Taken, Workers: len(e.slots),
		Events: e.events.Load(), Reconciles: e.reconciles.Load(), Kinds: e.kinds.all(), full: waiting.Full,
	}
	for _, c := range e.all() {
		failing, longest := c.backoff.state()
		s.Failing, s.LongestBackoff = s.Failing+failing, max(s.LongestBackoff, longest)
	}
	for _, slot := range e.slots {
		if running, busy := slot.present(); busy {
			s.Running = append(s.Running, running)
		}
	}
	slices.SortFunc(s.Running, func(a, b Running) int { return a.Since.Compare(b.Since) })
	return s
}

// slot holds what one worker reconciles now.
type slot struct {
	logger *slog.Logger

	mu      sync.Mutex
	busy    bool
	running Running
	// patience is the time after which the reconcile under way is stuck.
	patience time.Duration
	// scope is the log scope of the reconcile under way.
	scope context.Context
	// watchdog fires when the reconcile for which it was set would be stuck. It is nil when none is set.
	watchdog *time.Timer
}

func (s *slot) begin(scope context.Context, key deploy.Ref, patience time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watchdog != nil && s.patience > patience && s.watchdog.Stop() { // one that fires just now sets itself again
		s.watchdog = nil
	}
	s.busy, s.running, s.patience, s.scope = true, Running{Key: key, Since: time.Now()}, patience, scope
	if s.watchdog == nil {
		s.watchdog = time.AfterFunc(s.patience, s.look)
	}
}

// look logs a reconcile that is stuck, once.
func (s *slot) look() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watchdog = nil
	if !s.busy {
		return
	}
	if left := s.patience - time.Since(s.running.Since); left > 0 { // the watchdog was set for an earlier reconcile
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

// stop ends the watchdog.
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

// kinds holds for each subject why it isn't watched yet. The zero value is empty.
type kinds struct {
	mu      sync.Mutex
	reasons map[trigger.Subject]error
}

func (k *kinds) set(kind trigger.Subject, reason error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.reasons == nil {
		k.reasons = map[trigger.Subject]error{}
	}
	k.reasons[kind] = reason
}

// drop drops the subjects for which match returns true.
func (k *kinds) drop(match func(trigger.Subject) bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	maps.DeleteFunc(k.reasons, func(s trigger.Subject, _ error) bool { return match(s) })
}

func (k *kinds) all() []KindState {
	k.mu.Lock()
	defer k.mu.Unlock()
	reasons := map[schema.GroupVersionKind]error{}
	for kind, reason := range k.reasons {
		reasons[kind.Watched()] = cmp.Or(reason, reasons[kind.Watched()])
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
