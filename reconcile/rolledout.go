package reconcile

import (
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/memory"
	"github.com/operkit/operkit/reconcile/standing"
)

// logRollout writes one line to the log when a rollout has ended: when the resource is settled, after objects were
// written in this reconcile or in earlier ones, and when it is finalized. now is how the resource is counted.
func (s *Session) logRollout(now memory.Count) {
	var done memory.Changes
	changes := s.written()
	s.update(func(m *memory.Resource) {
		if changes.Any() {
			changes.Began = s.began
			m.Changed(changes)
		}
		if now.Standing == standing.Settled || s.finalized {
			done = m.RolledOut()
		}
	})
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
