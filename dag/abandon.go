package dag

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Abandon bounds how long a run waits for what is in flight once its context has ended: after
// d it returns without those visits and predicates that haven't, and with an [*AbandonedError]
// that names their nodes. 0 is not at all; a negative d is an [ErrInvalidOption], and so is
// Abandon together with Concurrency(0), where the visit is on the goroutine that would have to
// return.
//
// A node whose visit was left counts as failed, with [ErrAbandoned]; one whose predicate was
// left as unstarted. Their goroutines end when the visit or predicate does, whose result then
// isn't noticed by anybody. Without Abandon a run waits for them however long that takes, so
// that one visit or predicate which doesn't heed its context can hold it for ever.
func Abandon(d time.Duration) Option { return func(c *config) { c.abandon = limit{d, true} } }

// ErrAbandoned is the error of a node whose visit a cancelled run didn't wait for.
var ErrAbandoned = errors.New("abandoned: the visit didn't return in time after the run was cancelled")

// AbandonedError says that a cancelled run returned before what it had begun.
type AbandonedError struct {
	// Nodes are those whose visit or predicate had not returned, by name.
	Nodes []string
	// Err is the error of the context that ended the run.
	Err error
}

// Error names the nodes.
func (e *AbandonedError) Error() string {
	return fmt.Sprintf("run: left behind while in flight: %s: %v", strings.Join(e.Nodes, ", "), e.Err)
}

// Unwrap is the error of the context.
func (e *AbandonedError) Unwrap() error { return e.Err }

// wait returns when the workers have ended, or those in flight have been abandoned.
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
		s.leaveBehind()
		<-s.done
	}
}

// leaveBehind ends the run for all workers that are in flight. From here on they touch nothing
// of it but what counts them.
func (s *scheduler) leaveBehind() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range s.jobs {
		switch j.doing {
		case resting:
			continue
		case visiting:
			s.outcomes[j.id] = OutcomeFailed
			s.errs = append(s.errs, NodeError{Name: s.plan.names[j.id], Err: ErrAbandoned})
			s.tellFinished(j, ErrAbandoned)
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

// finish lets the run return when there are no workers but those that it has left behind. mu is
// held.
func (s *scheduler) finish() {
	if s.over && !s.finished && s.workers == s.leftBehind {
		s.finished = true
		close(s.done)
	}
}

// late tells a worker whether it has been left behind while it was away. mu is held.
func (s *scheduler) late() bool {
	if len(s.abandoned) == 0 {
		return false
	}
	s.leftBehind--
	return true
}
