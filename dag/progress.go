package dag

import (
	"slices"
	"time"
)

// progress queues the events of a run for its observer. Its methods do nothing without an observer, and are called with
// the scheduler's mu held.
type progress struct {
	*observation
	// blocked are the nodes that were reported as blocked.
	blocked []bool
}

// now returns the time, or zero without an observer.
func (s *scheduler) now() time.Time {
	if s.observation == nil {
		return time.Time{}
	}
	return time.Now()
}

func (s *scheduler) notifyStarted(j *job) {
	if s.observation != nil {
		j.since = time.Now()
		s.queueEvent(Event{Kind: EventStarted, Name: s.plan.names[j.id], Time: j.since})
	}
}

func (s *scheduler) notifyWaiting(id int32) {
	if s.observation != nil {
		s.queueEvent(Event{Kind: EventWaiting, Name: s.plan.names[id], Time: time.Now(), Reason: s.view().reason(id)})
	}
}

// notifyFinished reports the outcome of a visit, and the nodes that it blocks.
func (s *scheduler) notifyFinished(j *job, err error) {
	if s.observation == nil {
		return
	}
	now := time.Now()
	s.queueEvent(Event{Kind: EventFinished, Name: s.plan.names[j.id], Time: now,
		Outcome: s.outcomes[j.id], Duration: now.Sub(j.since), Err: err})
	if s.outcomes[j.id] != OutcomeVerified {
		s.notifyBlocked(now, s.plan.parents.of(j.id)...)
	}
}

// notifyBlocked reports nodes, and all nodes that wait for them, as blocked.
func (s *scheduler) notifyBlocked(now time.Time, ids ...int32) {
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
		s.queueEvent(Event{Kind: EventBlocked, Name: s.plan.names[id], Time: now, Err: s.held[id].err, Reason: view.reason(id)})
		queue = append(queue, s.plan.parents.of(id)...)
	}
}

// notifyDisabled reports the nodes that are blocked from the beginning.
func (s *scheduler) notifyDisabled() {
	if s.observation == nil {
		return
	}
	s.blocked = make([]bool, len(s.plan.names))
	_, byName := s.plan.order()
	off := slices.DeleteFunc(slices.Clone(byName), func(id int32) bool { return !s.plan.disabled[id] })
	s.notifyBlocked(time.Now(), off...)
}

// notifyRest reports the nodes that are unstarted at the end of the run.
func (s *scheduler) notifyRest() {
	if s.observation != nil {
		_, byName := s.plan.order()
		s.notifyBlocked(time.Now(), byName...)
	}
}

// view returns the result so far. Its slices and maps are those of the scheduler, which goes on changing them.
func (s *scheduler) view() *result {
	return &result{
		plan: s.plan, outcomes: s.outcomes, errs: s.errs,
		held: s.held, stopped: s.stopped, ended: s.ctx.Err(),
	}
}
