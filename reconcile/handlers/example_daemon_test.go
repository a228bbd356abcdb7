package handlers_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/reconcile/handlers"
	"github.com/operkit/operkit/reconcile/reconciletest"
)

// newMeasured returns the handlers of claims that are measured every ten seconds.
func newMeasured() *handlers.Handlers[Claim] {
	h := handlers.New[Claim](claims)
	h.Daemon("measure", func(ctx context.Context, r *handlers.Request[Claim]) error {
		for r.Sleep(ctx, 10*time.Second) {
			fmt.Println("measure", r.Latest().Spec.Size)
			r.Update(func(c *Claim) { c.Status.Volume = fmt.Sprint("size ", c.Spec.Size) })
			if err := r.Flush(ctx); err != nil {
				return err
			}
		}
		var why handlers.Stop
		if errors.As(context.Cause(ctx), &why) && why == handlers.StopDeleting {
			fmt.Println("the last measurement")
		}
		return nil
	}, handlers.Grace(5*time.Second))
	return h
}

// A daemon measures each claim until it is deleted. In a test, daemons need a bubble of testing/synctest, or a real
// cluster.
func ExampleHandlers_Daemon() {
	inTest(func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			h := reconciletest.Drive(t, newMeasured())
			h.Apply(small)
			h.Advance(15 * time.Second) // not at the moment of a measurement
			edit(h, "size", int64(2))
			h.Advance(10 * time.Second)
			fmt.Println(h.Get("Claim small").Object["status"])
			h.Delete("Claim small")
			h.RunUntilSettled()
			h.Gone("Claim small")
		})
	})
	// Output:
	// measure 1
	// measure 2
	// map[volume:size 2]
	// the last measurement
}

// inTest runs a test as the go command does, once and quietly.
func inTest(test func(t *testing.T)) {
	for name, value := range map[string]string{"test.v": "false", "test.count": "1"} {
		setting := flag.Lookup(name).Value
		before := setting.String()
		defer func() { _ = setting.Set(before) }()
		_ = setting.Set(value)
	}
	var once sync.Once // -cpu 1,2,4 has the tests run for each
	again := func(t *testing.T) { once.Do(func() { test(t) }) }
	if !testing.RunTests(func(_, _ string) (bool, error) { return true, nil }, []testing.InternalTest{{Name: "TestOperator", F: again}}) {
		fmt.Println("FAIL")
	}
}
