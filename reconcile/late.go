package reconcile

import (
	"errors"
	"fmt"
	"sync"
)

// rolling tells whether the rollout has begun, after which components neither come nor change. What is asked
// for all the same would be silently without effect, so it is a mistake of the Build that asks.
type rolling struct {
	mu       sync.Mutex
	begun    bool
	mistakes []error
}

// begin ends what Setup may do.
func (r *rolling) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begun = true
}

func (r *rolling) hasBegun() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.begun
}

// late notes a mistake if the rollout has begun.
func (s *Session) late(format string, args ...any) bool {
	if !s.rolling.hasBegun() {
		return false
	}
	s.tell(fmt.Errorf(format, args...))
	return true
}

// tell notes a mistake that somebody makes while the rollout is under way.
func (s *Session) tell(mistake error) {
	s.rolling.mu.Lock()
	defer s.rolling.mu.Unlock()
	s.rolling.mistakes = append(s.rolling.mistakes, mistake)
}

// withMistakes adds to what a method of a Builder or a hook answers the mistakes that it made.
func (s *Session) withMistakes(err error) error {
	mistakes := errors.Join(s.tooLate()...)
	if mistakes == nil {
		return err
	}
	return errors.Join(err, &classified{class: classRollout, err: mistakes})
}

// tooLate returns the mistakes that were noted since it was last called.
func (s *Session) tooLate() []error {
	s.rolling.mu.Lock()
	defer s.rolling.mu.Unlock()
	mistakes := s.rolling.mistakes
	s.rolling.mistakes = nil
	return mistakes
}
