package child

import (
	"fmt"
	"sync"

	"github.com/operkit/operkit/reconcile"
)

// sessions are those that the manager has begun and not released.
type sessions struct {
	mu   sync.Mutex
	open map[string]*session
	// releasing are those that are about to end.
	releasing sync.WaitGroup
}

// session is one of them.
type session struct {
	*ruled
	*reconcile.Description

	mu sync.Mutex
	// rendered are the objects of components, by the names of these.
	rendered map[string][]reconcile.Rendered
}

func (s *sessions) add(id string, one *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = map[string]*session{}
	}
	s.open[id] = one
}

func (s *sessions) of(id string) (*session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one, ok := s.open[id]; ok {
		return one, nil
	}
	return nil, fmt.Errorf("session %s: there is none: it was released, or never set up", id)
}

// release ends a session. Its controller may want to know, which nobody waits for.
func (s *sessions) release(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one := s.open[id]; one != nil {
		delete(s.open, id)
		s.releasing.Go(one.Release)
	}
}

// releaseAll ends all sessions, and returns when they have.
func (s *sessions) releaseAll() {
	s.mu.Lock()
	for _, one := range s.open {
		s.releasing.Go(one.Release)
	}
	s.open = nil
	s.mu.Unlock()
	s.releasing.Wait()
}
