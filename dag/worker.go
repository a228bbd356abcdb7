package dag

import (
	"context"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"
)

// job is what a worker is doing. The zero value is nothing. All of it is guarded by the
// scheduler's mu, but for gate, which its worker changes alone.
type job struct {
	doing activity
	id    int32
	// gate is the predicate being asked, asked the number of completed visits when asking began.
	gate  atomic.Int32
	asked int
	// since is when the visit began, if anybody wants to know.
	since time.Time
}

type activity uint8

const (
	resting activity = iota
	asking
	visiting
)

// worker takes and does one job after another until the run is over, or a visit or predicate
// ends the goroutine.
func (s *scheduler) worker() {
	j := &job{}
	defer s.exited(j)
	// No deferred unlock: where a visit ends the goroutine, mu isn't held.
	s.mu.Lock()
	s.jobs = append(s.jobs, j)
	for {
		s.catchUp()
		id, ask := s.take()
		if id == none {
			s.mu.Unlock()
			return
		}
		j.id = id
		if ask {
			s.pass(j)
		} else {
			s.call(j)
		}
	}
}

// call visits a node. mu is held, but not during the visit.
func (s *scheduler) call(j *job) {
	s.visiting++
	j.doing = visiting
	s.tellStarted(j)
	s.catchUp()
	s.mu.Unlock()
	err := s.guardedVisit(j.id)
	s.mu.Lock()
	j.doing = resting
	if !s.late() {
		s.settle(j, err)
	}
}

func (s *scheduler) guardedVisit(id int32) (err error) {
	defer recovered(&err)
	if !s.nodeTimeout.set {
		return s.visit(s.ctx, id)
	}
	return s.bounded(func(ctx context.Context) error { return s.visit(ctx, id) })
}

// catchUp lets an observer that has no goroutine of its own take in what has happened. mu is
// held, but not during that.
func (s *scheduler) catchUp() {
	if s.concurrency == 0 && s.observation != nil {
		s.mu.Unlock()
		s.flush()
		s.mu.Lock()
	}
}

// exited does the bookkeeping of a job that ended the goroutine of its worker, which is what
// runtime.Goexit does.
func (s *scheduler) exited(j *job) {
	if j.doing == resting {
		return
	}
	s.bookExit(j, &GoexitError{Stack: debug.Stack()})
	// Not where it was the observer that ended the goroutine.
	if s.concurrency == 0 && s.observation != nil && s.calling.IsZero() {
		s.flush()
	}
}

func (s *scheduler) bookExit(j *job, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.jobs = slices.DeleteFunc(s.jobs, func(other *job) bool { return other == j })
	switch {
	case s.late():
	case j.doing == visiting:
		s.settle(j, err)
	default:
		s.asking--
		s.refuse(j, err)
	}
}
