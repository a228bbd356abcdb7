package dag

import (
	"context"
	"slices"
	"sync"
)

// scheduler is one run. mu guards all fields below it. mu isn't held while visits and predicates are called.
type scheduler struct {
	ctx   context.Context
	plan  *plan
	visit func(ctx context.Context, id int32) error
	config

	mu   sync.Mutex
	work sync.Cond
	// workers counts the goroutines; idle counts the goroutines that wait for work and haven't been signalled.
	workers, idle int
	// jobs holds the job of each worker.
	jobs []*job
	// visiting counts the visits in flight; asking counts the nodes whose predicates are being called.
	visiting, asking int
	over             bool
	// done is closed, and finished set, when all workers except abandoned ones have ended.
	done     chan struct{}
	finished bool
	// ended is the error of ctx at the end of the run.
	ended error
	// abandoned are the nodes that were still in flight when the run gave up waiting; leftBehind counts their workers.
	abandoned  []string
	leftBehind int

	// upcoming are the nodes whose dependencies are all verified and that aren't in the current set yet. The current
	// set consists of gated (nodes with predicates to call first) and ready (nodes to visit). When the current set is
	// done, upcoming becomes the next set, sorted by name. nextGated and nextReady are the indexes of the next nodes to
	// take.
	upcoming, gated, ready []int32
	nextGated, nextReady   int
	// waiting has, for each node, the number of children that aren't verified.
	waiting []int32

	outcomes []Outcome
	errs     []NodeError
	// stopped is the node whose failure stopped a run with FailFast, or none.
	stopped int32

	polling
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

// run carries out the run, and returns the error of the observer.
func (s *scheduler) run() error {
	s.mu.Lock()
	s.notifyDisabled()
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
	s.notifyRest()
	s.mu.Unlock()
	return s.end()
}

// wake wakes or starts a worker. A worker that takes a node wakes the next one if nodes are left, so the number of
// workers never exceeds the largest number of nodes that could be worked on at the same time.
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

// leave ends a worker. If a visit has ended the last worker by runtime.Goexit, leave starts another one.
func (s *scheduler) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.workers--
	if !s.over {
		s.wake()
	}
	s.finish()
}

// take returns the next node to work on, and whether to call its predicates. It waits while visits or predicates in
// flight may make a node ready, and returns none when the run is over. The caller holds mu.
func (s *scheduler) take() (id int32, ask bool) {
	for !s.over {
		if s.canStart() {
			if id, ask = s.pop(); id != none {
				return id, ask
			}
		}
		if s.visiting+s.asking > 0 {
			s.idle++
			s.work.Wait()
			continue
		}
		if !s.canStart() || !s.askAgain() {
			s.over = true
			s.work.Broadcast()
		}
	}
	return none, false
}

func (s *scheduler) canStart() bool { return s.stopped == none && s.ctx.Err() == nil }

// pop returns the next node to work on, or none. ask reports whether to call its predicates first.
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

// advance makes the upcoming nodes the next set.
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

// finishVisit records the outcome of a visit, and moves the nodes that waited for nothing else to upcoming. The caller
// holds mu.
func (s *scheduler) finishVisit(j *job, err error) {
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
	s.notifyFinished(j, err)
}

// stop stops a run with FailFast.
func (s *scheduler) stop(id int32) {
	if s.failFast && s.stopped == none {
		s.stopped = id
	}
}
