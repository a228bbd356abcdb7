package dag

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Abandon bounds how long a run waits for visits and predicates in flight after its context has ended. After d, Run
// returns without them, with an [*AbandonedError] that names their nodes. With 0, Run doesn't wait at all. A negative d
// is an [ErrInvalidOption]. So is Abandon together with Concurrency(0), because visits then run on the goroutine that
// called Run.
//
// A node whose visit was abandoned is failed, with [ErrAbandoned]. A node whose predicate was abandoned is unstarted.
// The goroutine of an abandoned visit or predicate ends when the visit or predicate returns. Its result is dropped.
// Without Abandon, a visit or predicate that ignores its context can block a run forever.
func Abandon(d time.Duration) Option { return func(c *config) { c.abandon = limit{d, true} } }

// ErrAbandoned is the error of a node whose visit was abandoned.
var ErrAbandoned = errors.New("abandoned: the visit didn't return in time after the run was cancelled")

// AbandonedError reports that a cancelled run returned while visits or predicates were still in flight.
type AbandonedError struct {
	// Nodes are the nodes whose visit or predicate hadn't returned, sorted by name.
	Nodes []string
	// Err is the error of the context that ended the run.
	Err error
}

// Error names the nodes.
func (e *AbandonedError) Error() string {
	return fmt.Sprintf("run: abandoned in flight: %s: %v", strings.Join(e.Nodes, ", "), e.Err)
}

// Unwrap returns the error of the context.
func (e *AbandonedError) Unwrap() error { return e.Err }

// wait returns when the workers have ended or have been abandoned.
func (s *scheduler) wait() {
	if !s.abandon.set {
		<-s.done
		return
	}
	select {
	case <-s.done:
		return
	case <-s.ctx.Done():
	}
	timer := time.NewTimer(s.abandon.d)
	defer timer.Stop()
	select {
	case <-s.done:
	case <-timer.C:
		s.abandonInFlight()
		<-s.done
	}
}

// abandonInFlight ends the run without waiting for the workers in flight. From then on these workers change nothing of
// the scheduler except leftBehind and workers.
func (s *scheduler) abandonInFlight() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range s.jobs {
		switch j.doing {
		case resting:
			continue
		case visiting:
			s.outcomes[j.id] = OutcomeFailed
			s.errs = append(s.errs, NodeError{Name: s.plan.names[j.id], Err: ErrAbandoned})
			s.notifyFinished(j, ErrAbandoned)
		case asking:
			s.hold(j.id, held{gate: int(j.gate.Load()), abandoned: true})
		}
		s.abandoned = append(s.abandoned, s.plan.names[j.id])
	}
	slices.Sort(s.abandoned)
	s.leftBehind = len(s.abandoned)
	s.over = true
	s.work.Broadcast()
	s.finish()
}

// finish lets the run return when there are no workers except abandoned ones. The caller holds mu.
func (s *scheduler) finish() {
	if s.over && !s.finished && s.workers == s.leftBehind {
		s.finished = true
		close(s.done)
	}
}

// wasAbandoned reports whether the run has abandoned the worker that calls it. A worker calls it once after each visit
// or predicate. The caller holds mu.
func (s *scheduler) wasAbandoned() bool {
	if len(s.abandoned) == 0 {
		return false
	}
	s.leftBehind--
	return true
}
