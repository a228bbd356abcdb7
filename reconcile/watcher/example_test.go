package watcher_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/watcher"
)

// console is a T that prints nothing, for the examples: a test has its *testing.T.
type console struct{ testing.TB }

func (console) Helper()                  {}
func (console) Context() context.Context { return context.Background() }
func (console) Cleanup(func())           {}
func (console) Failed() bool             { return false }
func (console) Logf(string, ...any)      {}

const larger = `
apiVersion: example.dev/v1
kind: Bucket
metadata: {name: small}
spec: {size: 2}`

// An operator passes the watchers to Drive. Here a harness runs them.
func Example() {
	watchers := watcher.New[Bucket](buckets,
		watcher.Retry(watcher.Exponential(5*time.Second, 5)),
		watcher.When(filter.Or(filter.Lifecycle(), filter.Generation())),
		watcher.Add("cloud", watcher.Opinionate(watcher.Funcs[Bucket]{
			Add: func(_ context.Context, b *Bucket) error {
				fmt.Println("create the bucket", b.Name)
				return nil
			},
			Update: func(_ context.Context, old, b *Bucket) error {
				fmt.Println("resize it from", old.Spec.Size, "to", b.Spec.Size)
				return nil
			},
			Delete: func(_ context.Context, b *Bucket) error {
				fmt.Println("remove it")
				return nil
			},
			Sync: func(_ context.Context, b *Bucket) error {
				fmt.Println("check it")
				return nil
			},
		}, watcher.Finalizer("buckets.example.dev/cloud"), watcher.InProgress())),
	)
	h := reconciletest.Drive(console{}, watchers)
	h.Apply(small)
	h.RunUntilSettled()
	h.Apply(larger)
	h.RunUntilSettled()
	h.Restart()
	h.RunUntilSettled()
	h.Delete("Bucket small")
	h.RunUntilSettled()
	// Output:
	// create the bucket small
	// resize it from 1 to 2
	// check it
	// remove it
}

// audit is a watcher of its own type.
type audit struct{}

func (audit) Add(_ context.Context, b *Bucket) error {
	fmt.Println("added", b.Name)
	return nil
}

func (audit) Update(_ context.Context, old, b *Bucket) error {
	fmt.Println("changed from", old.Spec.Size, "to", b.Spec.Size)
	return nil
}

func (audit) Delete(_ context.Context, b *Bucket) error {
	fmt.Println("deleted", b.Name)
	return nil
}

func ExampleAdd() {
	h := reconciletest.Drive(console{}, watcher.New[Bucket](buckets, watcher.Add("audit", audit{})))
	h.Apply(small)
	h.RunUntilSettled()
	h.Apply(larger)
	h.RunUntilSettled()
	h.Delete("Bucket small")
	h.RunUntilSettled()
	// Output:
	// added small
	// changed from 1 to 2
	// deleted small
}

// A reconciler carries its state from one try to the next one.
func ExampleAddReconciler() {
	watchers := watcher.New[Bucket](buckets,
		watcher.AddReconciler("quota", func(_ context.Context, r watcher.Request[Bucket]) (watcher.Result, error) {
			job, _ := r.State.(string)
			fmt.Printf("%s with the job %q\n", r.Action, job)
			if job == "" {
				return watcher.Result{State: "job-1", RequeueAfter: time.Minute}, nil
			}
			return watcher.Result{}, nil
		}))
	h := reconciletest.Drive(console{}, watchers)
	h.Apply(small)
	h.Advance(time.Hour)
	// Output:
	// CREATE with the job ""
	// CREATE with the job "job-1"
}

// Some watchers come and go while the operator runs.
func ExampleWatchers_Add() {
	watchers := watcher.New[Bucket](buckets)
	h := reconciletest.Drive(console{}, watchers)
	h.Apply(small)
	h.RunUntilSettled()
	handle, err := watchers.Add(watcher.Add("audit", audit{}))
	if err != nil {
		fmt.Println(err)
		return
	}
	h.RunUntilSettled()
	handle.Remove()
	h.Apply(larger)
	h.RunUntilSettled()
	// Output: added small
}

func ExampleOnError() {
	watchers := watcher.New[Bucket](buckets,
		watcher.Retry(watcher.Exponential(5*time.Second, 2)),
		watcher.OnError(func(_ context.Context, f watcher.Failure) {
			fmt.Println(f.Watcher, f.Action, f.Err, "attempt", f.Attempt, "retry in", f.RetryIn, "given up:", f.GivenUp)
		}),
		watcher.Add("cloud", watcher.Simple(watcher.Funcs[Bucket]{
			Add: func(context.Context, *Bucket) error { return errors.New("no answer") },
		})))
	h := reconciletest.Drive(console{}, watchers)
	h.Apply(small)
	h.Advance(time.Hour)
	// Output:
	// cloud CREATE no answer attempt 1 retry in 5s given up: false
	// cloud CREATE no answer attempt 2 retry in 10s given up: false
	// cloud CREATE no answer attempt 3 retry in 0s given up: true
}

func ExampleExponential() {
	policy := watcher.Exponential(5*time.Second, 3)
	for attempt := range 4 {
		after, again := policy(errors.New("no answer"), attempt)
		fmt.Println(after, again)
	}
	// Output:
	// 5s true
	// 10s true
	// 20s true
	// 0s false
}

// Objects that fail together aren't repeated together.
func ExampleJitter() {
	policy := watcher.Jitter(watcher.Exponential(10*time.Second, 5), 0.2)
	after, again := policy(errors.New("no answer"), 0)
	fmt.Println(after >= 10*time.Second, after <= 12*time.Second, again)
	// Output: true true true
}

// A plain watcher becomes one that misses no deletion.
func ExampleWrap() {
	cloud := watcher.Opinionate(watcher.Wrap(audit{}, true), watcher.Finalizer("buckets.example.dev/audit"))
	h := reconciletest.Drive(console{}, watcher.New[Bucket](buckets, watcher.Add("audit", cloud)))
	h.Apply(small)
	h.RunUntilSettled()
	fmt.Println(h.Get("Bucket small").GetFinalizers())
	// Output:
	// added small
	// [buckets.example.dev/audit]
}

// A policy of one's own: only a new generation starts the retries anew.
func ExampleDequeue() {
	newer := func(q watcher.Question) bool { return q.Object.GetGeneration() > q.RetryObject.GetGeneration() }
	h := reconciletest.Drive(console{}, watcher.New[Bucket](buckets, watcher.Dequeue(newer), watcher.Add("audit", audit{})))
	h.Apply(small)
	h.RunUntilSettled()
	// Output: added small
}

func ExampleListMap() {
	var tasks watcher.ListMap[string, string]
	tasks.AddItem("small", "create", "resize", "check")
	tasks.RemoveItem("small", func(task string) bool { return task == "resize" })
	tasks.Range("small", func(i int, task string) { fmt.Println(i, task) })
	// Output:
	// 0 create
	// 1 check
}
