package dag_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/operkit/operkit/dag"
)

func ExampleReverse() {
	stop := func(_ context.Context, name string, _ int) error {
		fmt.Println("stop", name)
		return nil
	}
	_, _ = dag.Run(context.Background(), site(), stop, dag.Reverse(), dag.Concurrency(1))
	// Output:
	// stop web
	// stop api
	// stop cache
	// stop db
}

func ExampleNodeTimeout() {
	state, err := dag.Run(context.Background(), site(), func(ctx context.Context, name string, _ int) error {
		if name == "db" {
			<-ctx.Done()
			return ctx.Err()
		}
		return nil
	}, dag.NodeTimeout(10*time.Millisecond))
	fmt.Println(err, state.Failed(), state.Err("db"))
	// Output: <nil> [db] timed out after 10ms: context deadline exceeded
}

func ExampleTimeoutError() {
	state, _ := dag.Run(context.Background(), site(), func(ctx context.Context, name string, _ int) error {
		<-ctx.Done()
		return ctx.Err()
	}, dag.NodeTimeout(10*time.Millisecond))
	var timeout *dag.TimeoutError
	fmt.Println(errors.As(state.Err("db"), &timeout), timeout.After)
	// Output: true 10ms
}

func ExampleAbandon() {
	ctx, cancel := context.WithCancel(context.Background())
	stuck := make(chan struct{})
	defer close(stuck)
	state, err := dag.Run(ctx, site(), func(_ context.Context, name string, _ int) error {
		if name == "db" {
			cancel()
			<-stuck // heeds no context
		}
		return nil
	}, dag.Abandon(10*time.Millisecond))
	var abandoned *dag.AbandonedError
	fmt.Println(errors.As(err, &abandoned), abandoned.Nodes, errors.Is(err, context.Canceled))
	fmt.Println(errors.Is(state.Err("db"), dag.ErrAbandoned), state.Reason("api"))
	// Output:
	// true [db] true
	// true waits for db (failed)
}

func ExampleObserve() {
	progress := func(e dag.Event) {
		if e.Kind == dag.EventFinished {
			e.Duration = 0 // so that it is the same each time
		}
		fmt.Println(e)
	}
	_, _ = dag.Run(context.Background(), site(), func(_ context.Context, name string, _ int) error {
		if name == "db" {
			return errors.New("no disk")
		}
		return nil
	}, dag.Observe(progress), dag.Concurrency(1))
	// Output:
	// started cache
	// finished cache: verified in 0s
	// started db
	// finished db: failed in 0s: no disk
	// blocked api: waits for db (failed)
	// blocked web: waits for api (unstarted)
}

func ExampleEvent_String() {
	fmt.Println(dag.Event{Kind: dag.EventFinished, Name: "db", Outcome: dag.OutcomeVerified, Duration: 2 * time.Second})
	fmt.Println(dag.Event{Kind: dag.EventWaiting, Name: "api", Reason: "predicate false on edge to db"})
	// Output:
	// finished db: verified in 2s
	// waiting api: predicate false on edge to db
}

func ExampleObserverError() {
	state, err := dag.Run(context.Background(), site(), nil, dag.Observe(func(dag.Event) { panic("no terminal") }))
	var observer *dag.ObserverError
	var panicked *dag.PanicError
	fmt.Println(errors.As(err, &observer), errors.As(observer.Err, &panicked), panicked.Value)
	fmt.Println(state.VerifyCompleted())
	// Output:
	// true true no terminal
	// true
}

func ExampleGoexitError() {
	state, _ := dag.Run(context.Background(), site(), func(_ context.Context, name string, _ int) error {
		if name == "db" {
			runtime.Goexit()
		}
		return nil
	})
	var caught *dag.GoexitError
	fmt.Println(errors.As(state.Err("db"), &caught), state.Err("db"))
	// Output: true runtime.Goexit was called
}

func ExampleState_Outcome() {
	end, ok := mixed().Outcome("api")
	fmt.Println(end, ok, end == dag.OutcomeUnverified)
	_, ok = mixed().Outcome("disk")
	fmt.Println(ok)
	// Output:
	// unverified true true
	// false
}

func ExampleOutcome_String() {
	fmt.Println(dag.OutcomeVerified, dag.OutcomeUnverified, dag.OutcomeFailed, dag.OutcomeUnstarted)
	// Output: verified unverified failed unstarted
}
