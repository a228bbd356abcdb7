package dag

import (
	"context"
	"slices"
	"sync"
)

// scheduler is one run. All fields below mu are guarded by it; visits and predicates are called
// without it.
type scheduler struct {
	ctx   context.Context
	plan  *plan
	visit func(ctx context.Context, id int32) error
	config

	mu   sync.Mutex
	work sync.Cond
	// workers counts the goroutines, idle those that wait on work and haven't been signalled.
	workers, idle int
	// jobs are what the workers are doing, by worker.
	jobs []*job
	// visiting and asking count the nodes in flight by what is being done with them.
	visiting, asking int
	over             bool
	// done is closed, and finished set, when nobody works for the run any more.
	done     chan struct{}
	finished bool
	// ended is the error of ctx at the end of the run.
	ended error
	// abandoned are the nodes that were in flight when the run ended without them, leftBehind
	// counts their workers.
	abandoned  []string
	leftBehind int

	// upcoming are the nodes that have come to wait for nothing. When those before them are
	// through, they become, by ascending name, the next set (spec: dag 22, 28): gated those
	// whose predicates are to be asked first, ready those to visit, which the gated ones join
	// when they may. Of both lists, the nodes from their next on are still to be taken.
	upcoming, gated, ready []int32
	nextGated, nextReady   int
	// waiting counts, per node, the children that aren't verified.
	waiting []int32

	outcomes []Outcome
	errs     []NodeError
	// stopped is the node whose failure ended a run with FailFast.
	stopped int32

	gatekeeper
	progress
}

func newScheduler(ctx context.Context, plan *plan, config config, visit func(ctx context.Context, id int32) error) *scheduler {
	s := &scheduler{
		ctx: ctx, plan: plan, config: config, visit: visit,
		ready:    slices.Clone(plan.ready()),
		waiting:  slices.Clone(plan.waiting),
		outcomes: make([]Outcome, len(plan.names)),
		stopped:  none,
		done:     make(chan struct{}),
	}
	s.work.L = &s.mu
	if config.observer != nil {
		s.observation = observe(config.observer, config.concurrency == 0)
	}
	return s
}

// run returns when the run is over, with the error of its observer.
func (s *scheduler) run() error {
	s.mu.Lock()
	s.tellDisabled()
	s.mu.Unlock()
	if s.concurrency == 0 {
		s.worker()
	} else if len(s.ready) > 0 {
		s.mu.Lock()
		s.wake()
		s.mu.Unlock()
		s.wait()
		s.stopPolling()
	}
	s.ended = s.ctx.Err()
	if s.observation == nil {
		return nil
	}
	s.mu.Lock()
	s.tellRest()
	s.mu.Unlock()
	return s.end()
}

// wake lets one more worker look for a node. Each that finds one and leaves others wakes the
// next, so that there are never more workers than there was work for at once.
func (s *scheduler) wake() {
	switch {
	case s.idle > 0:
		s.idle--
		s.work.Signal()
	case s.workers < s.concurrency:
		s.workers++
		go func() {
			defer s.leave()
			s.worker()
		}()
	}
}

// leave ends a worker. One that a visit ended with runtime.Goexit may be the last, so that
// another one has to go on.
func (s *scheduler) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.workers--
	if !s.over {
		s.wake()
	}
	s.finish()
}

// take returns the next node to work on, and whether that is to ask its predicates. It waits for
// one as long as one may come up, and answers none when the run is over. mu is held.
func (s *scheduler) take() (id int32, ask bool) {
	for !s.over {
		if s.mayStart() {
			if id, ask = s.pop(); id != none {
				return id, ask
			}
		}
		if s.visiting+s.asking > 0 {
			s.idle++
			s.work.Wait()
			continue
		}
		if !s.mayStart() || !s.askAgain() {
			s.over = true
			s.work.Broadcast()
		}
	}
	return none, false
}

func (s *scheduler) mayStart() bool { return s.stopped == none && s.ctx.Err() == nil }

// pop takes a node off what is to be asked or visited, or answers none.
func (s *scheduler) pop() (id int32, ask bool) {
	if s.nextGated == len(s.gated) && s.nextReady == len(s.ready) {
		s.advance()
	}
	switch {
	case s.nextGated < len(s.gated):
		id, ask = s.gated[s.nextGated], true
		s.nextGated++
	case s.nextReady < len(s.ready):
		id = s.ready[s.nextReady]
		s.nextReady++
	default:
		return none, false
	}
	if s.nextGated < len(s.gated) || s.nextReady < len(s.ready) || len(s.upcoming) > 0 {
		s.wake()
	}
	return id, ask
}

// advance makes what is upcoming the next set.
func (s *scheduler) advance() {
	s.plan.sortByName(s.upcoming)
	s.gated, s.ready, s.nextGated, s.nextReady = s.gated[:0], s.ready[:0], 0, 0
	for _, id := range s.upcoming {
		if s.predicates && len(s.plan.gates[id]) > 0 {
			s.gated = append(s.gated, id)
		} else {
			s.ready = append(s.ready, id)
		}
	}
	s.upcoming = s.upcoming[:0]
}

// settle records how a visit ended and lets go what waited for nothing else. mu is held.
func (s *scheduler) settle(j *job, err error) {
	id := j.id
	s.visiting--
	s.completions++
	switch {
	case err == nil:
		s.outcomes[id] = OutcomeVerified
		for _, parent := range s.plan.parents.of(id) {
			if s.waiting[parent]--; s.waiting[parent] == 0 {
				s.upcoming = append(s.upcoming, parent)
			}
		}
	case isUnverified(err):
		s.outcomes[id] = OutcomeUnverified
	default:
		s.outcomes[id] = OutcomeFailed
		s.stop(id)
	}
	if err != nil {
		s.errs = append(s.errs, NodeError{Name: s.plan.names[id], Err: err})
	}
	s.tellFinished(j, err)
}

// stop starts nothing any more when that was asked for.
func (s *scheduler) stop(id int32) {
	if s.failFast && s.stopped == none {
		s.stopped = id
	}
}
