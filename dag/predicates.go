package dag

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"
)

// polling is the state of the predicates that haven't returned true yet.
type polling struct {
	// held has, for each held node, its first predicate that hasn't returned true. The predicates before it aren't
	// called again.
	held map[int32]held
	// parked are the nodes whose predicates returned false and are called again later, sorted by due.
	parked []parked
	// completions counts the visits that have returned.
	completions int
	timer       *time.Timer
}

type held struct {
	gate int
	// err is the error of the predicate, nil if it returned false or was abandoned.
	err       error
	abandoned bool
}

type parked struct {
	id  int32
	due time.Time
	// asked is the number of completed visits when the predicate was called. If visits have completed since then, the
	// result may be out of date.
	asked int
}

// pass calls the predicates of a node, in order, up to the first that doesn't return true. If all return true, the node
// is ready. The caller holds mu, which pass releases during the calls.
func (s *scheduler) pass(j *job) {
	gates := s.plan.gates[j.id]
	gate := s.held[j.id].gate
	j.gate.Store(int32(gate))
	j.asked, j.doing = s.completions, asking
	s.asking++
	s.mu.Unlock()
	open, err := true, error(nil)
	for open && err == nil && s.ctx.Err() == nil && gate < len(gates) {
		if open, err = s.safeAsk(gates[gate]); open && err == nil {
			gate++
			j.gate.Store(int32(gate))
		}
	}
	s.mu.Lock()
	j.doing = resting
	if s.wasAbandoned() {
		return
	}
	s.asking--
	ended := s.ctx.Err()
	switch {
	case err != nil && (ended == nil || !errors.Is(err, ended)):
		s.refuse(j, err)
	case err == nil && !open:
		s.park(j)
	case gate == len(gates):
		delete(s.held, j.id)
		s.join(j.id)
	default:
		// ctx ended before all predicates were called.
		delete(s.held, j.id)
	}
}

// join inserts a node whose predicates have all returned true into the ready nodes, by name.
func (s *scheduler) join(id int32) {
	ranks, _ := s.plan.order()
	at, _ := slices.BinarySearchFunc(s.ready[s.nextReady:], ranks[id], func(other, rank int32) int {
		return cmp.Compare(ranks[other], rank)
	})
	s.ready = slices.Insert(s.ready, s.nextReady+at, id)
}

func (s *scheduler) safeAsk(g gate) (open bool, err error) {
	defer recovered(&err)
	if !s.nodeTimeout.set {
		return g.open(s.ctx)
	}
	err = s.bounded(func(ctx context.Context) (err error) {
		open, err = g.open(ctx)
		return err
	})
	return open, err
}

// refuse keeps a node from starting for the rest of the run. The caller holds mu.
func (s *scheduler) refuse(j *job, err error) {
	s.hold(j.id, held{gate: int(j.gate.Load()), err: err})
	s.errs = append(s.errs, NodeError{Name: s.plan.names[j.id], Err: err})
	if isFatal(err) {
		s.stop(j.id)
	}
	s.notifyBlocked(s.now(), j.id)
}

func (s *scheduler) hold(id int32, h held) {
	if s.held == nil {
		s.held = map[int32]held{}
	}
	s.held[id] = h
}

// park schedules another call of a predicate that returned false. The caller holds mu.
func (s *scheduler) park(j *job) {
	gate := int(j.gate.Load())
	before, again := s.held[j.id]
	s.hold(j.id, held{gate: gate})
	if !again || before.gate != gate {
		s.notifyWaiting(j.id)
	}
	s.parked = append(s.parked, parked{id: j.id, due: time.Now().Add(s.pollInterval), asked: j.asked})
	// With Concurrency(0) nothing is in flight while predicates are called.
	if s.concurrency > 0 && len(s.parked) == 1 {
		s.poll(s.pollInterval)
	}
}

func (s *scheduler) poll(after time.Duration) {
	if s.timer == nil {
		s.timer = time.AfterFunc(after, s.tick)
		return
	}
	s.timer.Reset(after)
}

// tick unparks the nodes whose predicates are due, if a visit is in flight.
func (s *scheduler) tick() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over || len(s.parked) == 0 {
		return
	}
	now := time.Now()
	if s.visiting > 0 {
		s.unpark(func(p parked) bool { return !p.due.After(now) })
		s.wake()
	}
	if len(s.parked) == 0 {
		return
	}
	wait := s.parked[0].due.Sub(now)
	if wait <= 0 {
		wait = s.pollInterval
	}
	s.poll(wait)
}

// askAgain unparks the nodes whose predicates were last called before the last visit returned, and reports whether
// there are any. The caller holds mu.
func (s *scheduler) askAgain() bool {
	before := len(s.parked)
	s.unpark(func(p parked) bool { return p.asked < s.completions })
	return len(s.parked) < before
}

// unpark moves the chosen nodes from parked to upcoming.
func (s *scheduler) unpark(chosen func(parked) bool) {
	rest := s.parked[:0]
	for _, p := range s.parked {
		if chosen(p) {
			s.upcoming = append(s.upcoming, p.id)
		} else {
			rest = append(rest, p)
		}
	}
	s.parked = rest
}

// stopPolling stops the timer.
func (s *scheduler) stopPolling() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer != nil {
		s.timer.Stop()
	}
}
