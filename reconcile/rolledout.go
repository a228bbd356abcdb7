package reconcile

import (
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/memory"
	"github.com/operkit/operkit/reconcile/standing"
)

// rolledOut remembers the objects that the session has written. It returns all changes of a rollout that has ended:
// when the resource is settled, and when it is finalized. now is how the resource is counted.
func (s *Session) rolledOut(m *memory.Resource, now memory.Count) (done memory.Changes) {
	if changes := s.written(); changes.Any() {
		changes.Began = s.began
		m.Changed(changes)
	}
	if now.Standing == standing.Settled || s.finalized {
		done = m.RolledOut()
	}
	return done
}

// logRollout writes one line to the log about a rollout that has ended, if it has changed anything or is the end of a
// deletion.
func (s *Session) logRollout(done memory.Changes) {
	message := "rolled out"
	switch {
	case s.finalized:
		message = "finalized"
	case !done.Any():
		return
	}
	if done.Began.IsZero() {
		done.Began = s.began
	}
	took := s.reconciler.now().Sub(done.Began).Round(time.Millisecond)
	s.logger.Info(message, append(done.Attributes(), "duration", took)...)
}

// written returns which objects the session has created, changed and deleted.
func (s *Session) written() (changes memory.Changes) {
	for result := range s.results() {
		switch result.Action {
		case deploy.Created:
			changes.Created++
		case deploy.Configured, deploy.Replaced, deploy.Recreated:
			changes.Changed++
		default:
			continue
		}
		changes.Name(result.Ref)
	}
	s.removing.Lock()
	defer s.removing.Unlock()
	for _, result := range s.removed {
		if result.Action == deploy.Removed {
			changes.Deleted++
			changes.Name(result.Ref)
		}
	}
	return changes
}
