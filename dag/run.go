package dag

import (
	"context"
	"fmt"
)

// Run visits every node of g that isn't disabled once, as soon as everything that it waits for
// is verified, and returns when nothing is in flight and nothing more can be started.
//
// visit gets ctx itself, or with [NodeTimeout] one of its own that ends with ctx at the latest,
// and the node's name and data. It is called from several goroutines unless [Concurrency] is 0.
// How its result counts is described at the package and at [Unverified]. A nil visit is one that
// does nothing and returns nil.
//
// The run works on the graph as it was when Run was called: visit may change it, or run it, and
// any number of runs of one graph may go on at once.
//
// However the nodes ended, the error is nil: it is in the state. An error is returned for
// invalid options or a damaged graph, with a state without nodes, and, with the state that was
// reached, when ctx ended before the run did: then it is ctx.Err(). From the end of ctx nothing
// is started any more, and Run returns once what is in flight has returned, or, with [Abandon],
// some time after without it: then the error is an [*AbandonedError]. An [*ObserverError] comes
// with a complete state, and is joined to the error of ctx if there is one.
//
// A panic in visit or a predicate is that node's error. So is runtime.Goexit, but with
// Concurrency(0) it ends the goroutine that called Run, as it must.
func Run[T any](ctx context.Context, g *Graph[T], visit func(ctx context.Context, name string, data T) error, options ...Option) (State, error) {
	config, err := newConfig(options)
	if err != nil {
		return State{}, fmt.Errorf("run: %w", err)
	}
	if ctx == nil {
		return State{}, fmt.Errorf("run: context: %w: must not be nil", ErrInvalidOption)
	}
	plan, data := g.snapshot()
	if plan.err != nil {
		return State{}, fmt.Errorf("run: %w", plan.err)
	}
	if config.reverse {
		plan = plan.reversed()
	}
	s := newScheduler(ctx, plan, config, func(ctx context.Context, id int32) error {
		if visit == nil {
			return nil
		}
		return visit(ctx, plan.names[id], data[id])
	})
	observer := s.run()
	result := s.result()
	ended := result.ended
	if len(s.abandoned) > 0 {
		ended = &AbandonedError{Nodes: s.abandoned, Err: ended}
	}
	return State{result}, conclude(ended, observer)
}

// Call is a visit for graphs whose data are the functions to run. A nil function does nothing
// (spec: dag 19).
func Call(ctx context.Context, _ string, f func(context.Context) error) error {
	if f == nil {
		return nil
	}
	return f(ctx)
}
