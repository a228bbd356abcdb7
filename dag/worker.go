package dag

import "runtime/debug"

// job is what a worker is doing. The zero value is nothing.
type job struct {
	doing activity
	id    int32
	// gate is the predicate being asked, asked the number of completed visits when asking began.
	gate, asked int
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
	var j job
	defer func() { s.ended(&j) }()
	// No deferred unlock: where a visit ends the goroutine, mu isn't held.
	s.mu.Lock()
	for {
		id, ask := s.take()
		if id == none {
			s.mu.Unlock()
			return
		}
		j.id = id
		if ask {
			s.pass(&j)
		} else {
			s.call(&j)
		}
	}
}

// call visits a node. mu is held, but not during the visit.
func (s *scheduler) call(j *job) {
	s.visiting++
	s.mu.Unlock()
	j.doing = visiting
	err := s.guardedVisit(j.id)
	j.doing = resting
	s.mu.Lock()
	s.settle(j.id, err)
}

func (s *scheduler) guardedVisit(id int32) (err error) {
	defer recovered(&err)
	return s.visit(id)
}

// ended does the bookkeeping of a job that ended the goroutine of its worker, which is what
// runtime.Goexit does.
func (s *scheduler) ended(j *job) {
	if j.doing == resting {
		return
	}
	err := &GoexitError{Stack: debug.Stack()}
	s.mu.Lock()
	defer s.mu.Unlock()
	if j.doing == visiting {
		s.settle(j.id, err)
		return
	}
	s.asking--
	s.refuse(j, err)
}
