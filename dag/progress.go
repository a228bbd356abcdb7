package dag

import (
	"slices"
	"time"
)

// progress is what a run tells its observer. Without an observer it does nothing. All of its
// methods are called with the scheduler's mu held.
type progress struct {
	*observation
	// blocked are the nodes of which it has been told that they won't be started.
	blocked []bool
}

// now is the time, or zero if nobody wants to know.
func (s *scheduler) now() time.Time {
	if s.observation == nil {
		return time.Time{}
	}
	return time.Now()
}

func (s *scheduler) tellStarted(j *job) {
	if s.observation != nil {
		j.since = time.Now()
		s.tell(Event{Kind: EventStarted, Name: s.plan.names[j.id], Time: j.since})
	}
}

func (s *scheduler) tellWaiting(id int32) {
	if s.observation != nil {
		s.tell(Event{Kind: EventWaiting, Name: s.plan.names[id], Time: time.Now(), Reason: s.view().reason(id)})
	}
}

// tellFinished tells how a visit ended, and what that blocks.
func (s *scheduler) tellFinished(j *job, err error) {
	if s.observation == nil {
		return
	}
	now := time.Now()
	s.tell(Event{Kind: EventFinished, Name: s.plan.names[j.id], Time: now,
		Outcome: s.outcomes[j.id], Duration: now.Sub(j.since), Err: err})
	if s.outcomes[j.id] != OutcomeVerified {
		s.tellBlocked(now, s.plan.parents.of(j.id)...)
	}
}

// tellBlocked tells of nodes that they won't be started, and of all that wait for them.
func (s *scheduler) tellBlocked(now time.Time, ids ...int32) {
	if s.observation == nil {
		return
	}
	view := s.view()
	queue := slices.Clone(ids)
	for at := 0; at < len(queue); at++ {
		id := queue[at]
		if s.blocked[id] || s.outcomes[id] != OutcomeUnstarted {
			continue
		}
		s.blocked[id] = true
		s.tell(Event{Kind: EventBlocked, Name: s.plan.names[id], Time: now, Err: s.held[id].err, Reason: view.reason(id)})
		queue = append(queue, s.plan.parents.of(id)...)
	}
}

// tellDisabled tells of what is blocked from the beginning.
func (s *scheduler) tellDisabled() {
	if s.observation == nil {
		return
	}
	s.blocked = make([]bool, len(s.plan.names))
	var off []int32
	_, byName := s.plan.order()
	for _, id := range byName {
		if s.plan.disabled[id] {
			off = append(off, id)
		}
	}
	s.tellBlocked(time.Now(), off...)
}

// tellRest tells of what is unstarted at the end of the run.
func (s *scheduler) tellRest() {
	if s.observation != nil {
		_, byName := s.plan.order()
		s.tellBlocked(time.Now(), byName...)
	}
}

// view is the result so far. It shares what goes on changing.
func (s *scheduler) view() *result {
	return &result{
		plan: s.plan, outcomes: s.outcomes, errs: s.errs,
		held: s.held, stopped: s.stopped, ended: s.ctx.Err(),
	}
}
