package request_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
)

func ExamplePermanent() {
	err := request.Permanent(errors.New("spec.region: there is no region \"moon\""))
	fmt.Println(err)
	fmt.Println(request.IsPermanent(fmt.Errorf("reconcile: %w", err)))
	// Output:
	// spec.region: there is no region "moon"
	// true
}

// Joined errors are permanent when all of them are: the others may still heal.
func ExampleIsPermanent() {
	permanent, passing := request.Permanent(errors.New("no such region")), errors.New("timeout")
	fmt.Println(request.IsPermanent(errors.Join(permanent, permanent)))
	fmt.Println(request.IsPermanent(errors.Join(permanent, passing)))
	// Output:
	// true
	// false
}

func ExampleRetryAfter() {
	err := request.RetryAfter(5*time.Minute, errors.New("quota exceeded"))
	fmt.Println(err)
	// Output: quota exceeded (again in 5m0s)
}

func ExampleRetryTime() {
	err := request.RetryAfter(5*time.Minute, errors.New("quota exceeded"))
	after, ok := request.RetryTime(fmt.Errorf("reconcile: %w", err))
	fmt.Println(after, ok)
	// Output: 5m0s true
}

func ExampleQuiet() {
	err := request.Quiet(errors.New("somebody else was quicker"))
	fmt.Println(err, request.IsQuiet(fmt.Errorf("component web: %w", err)))
	// Output: somebody else was quicker true
}

func ExampleAdvanced() {
	err := request.Advanced(errors.New("component web: no answer"))
	fmt.Println(err, request.IsAdvanced(errors.Join(errors.New("component db: no answer"), err)))
	// Output: component web: no answer true
}

func ExampleTriggers() {
	triggers := request.Changed | request.Child
	fmt.Println(triggers, triggers.Has(request.Deleting))
	// Output: child,changed false
}

// A reconciler is asked by a Request, and answers with a Result and an error.
func ExampleRequest() {
	reconcile := func(req request.Request) (request.Result, error) {
		if req.Attempt > 3 {
			return request.Result{}, request.Permanent(errors.New("it fails again and again"))
		}
		return request.Result{
			RequeueAfter: time.Minute,
			Wrote:        []request.State{{UID: "uid-of-web", ResourceVersion: "7"}},
		}, nil
	}
	result, err := reconcile(request.Request{Key: deploy.Ref{Namespace: "shop", Name: "hello"}, Triggers: request.Changed})
	fmt.Println(result.RequeueAfter, result.Wrote, err)
	// Output: 1m0s [{uid-of-web 7}] <nil>
}
