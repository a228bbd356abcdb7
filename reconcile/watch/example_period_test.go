package watch_test

import (
	"context"
	"fmt"
	"time"

	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/watch"
)

func ExamplePeriod() {
	reconciles := 0
	runUntil(newCluster(), func(_ *watch.Engine, enough func()) reconcilerFunc {
		return func(_ context.Context, req request.Request) (request.Result, error) {
			fmt.Println(req.Triggers)
			if reconciles++; reconciles == 3 {
				enough()
			}
			return request.Result{}, nil
		}
	}, watch.Period(10*time.Millisecond))
	// Output:
	// listed
	// periodic
	// periodic
}
