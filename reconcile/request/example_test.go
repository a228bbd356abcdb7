package request_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/operkit/operkit/dag"
	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/status"
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

func ExamplePrecondition() {
	err := fmt.Errorf("component web: %w", request.Precondition("no node has a GPU"))
	fmt.Println(request.ClassOf(err), request.IsWaiting(err))
	// Output: Precondition true
}

func ExampleConfiguration() {
	err := request.Configuration("spec.size: %d is odd", 7)
	fmt.Println(err, "|", request.ClassOf(err))
	// Output: spec.size: 7 is odd | Config
}

func ExamplePassing() {
	passing := request.Passing(errors.New("the helper is being restarted"))
	fmt.Println(request.Resolve(passing).Passing, request.Resolve(errors.Join(passing, errors.New("no"))).Passing)
	// Output: true false
}

// Of joined errors the most severe class counts.
func ExampleClassOf() {
	fmt.Println(request.ClassOf(errors.Join(request.Precondition("no node has a GPU"), request.Configuration("spec.size is odd"))))
	// Output: Config
}

func ExampleIsWaiting() {
	fmt.Println(request.IsWaiting(request.Precondition("no node has a GPU")), request.IsWaiting(errors.New("no")))
	// Output: true false
}

func ExampleSeverity() {
	fmt.Println(request.Severity(status.ErrorConfig) > request.Severity(status.ErrorCluster))
	// Output: true
}

func ExampleResolve() {
	err := fmt.Errorf("component web: %w", request.RetryAfter(time.Minute, request.Precondition("no node has a GPU")))
	means := request.Resolve(err)
	fmt.Println(means.Class, means.RetryAfter, means.Permanent)
	// Output: Precondition 1m0s false
}

// An error that has come from elsewhere, where its type was lost.
func ExampleError() {
	err := fmt.Errorf("setup: %w", &request.Error{Class: status.ErrorConfig, Permanent: true, Err: errors.New("spec.size: 7 is odd")})
	var marked *request.Error
	fmt.Println(errors.As(err, &marked), marked.Class, marked.Permanent)
	// Output: true Config true
}

func ExamplePanics() {
	err := fmt.Errorf("component web: %w", &dag.PanicError{Value: "no roof"})
	fmt.Println(request.Panics(err))
	// Output: [panic: no roof]
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
			Wrote:        []request.Revision{{UID: "uid-of-web", ResourceVersion: "7"}},
		}, nil
	}
	result, err := reconcile(request.Request{Key: deploy.Ref{Namespace: "shop", Name: "hello"}, Triggers: request.Changed})
	fmt.Println(result.RequeueAfter, result.Wrote, err)
	// Output: 1m0s [{uid-of-web 7}] <nil>
}
