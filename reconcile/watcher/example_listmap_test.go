package watcher_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/watcher"
)

func ExampleNewListMap() {
	tasks := watcher.NewListMap[string, int]()
	tasks.AddItem("small", 1, 2, 3, 4)
	tasks.AddItem("big", 5)
	second, ok := tasks.ItemAt("small", 1)
	fmt.Println(second, ok, tasks.KeySize("small"), tasks.Size(), len(tasks.Keys()))
	fmt.Println(tasks.RemoveItems("small", func(n int) bool { return n%2 == 0 }, 1))
	tasks.RemoveItemAt("small", 0)
	tasks.RemoveKey("big")
	tasks.RangeAll(func(key string, i, n int) { fmt.Println(key, i, n) })
	for key, all := range tasks.All() {
		fmt.Println(key, all)
	}
	// Output:
	// 2 true 4 2 2
	// 1
	// small 0 3
	// small 1 4
	// small [3 4]
}

// A watcher with the usual policies, that is called for each change, for one object at a time, and each hour.
func ExampleResync() {
	opinionated := watcher.Opinionate(watcher.Wrap[Bucket](audit{}, false), watcher.Finalizer("buckets.example.dev/audit"), watcher.AnyChange())
	h := reconciletest.Drive(console{}, watcher.New[Bucket](buckets, watcher.Resync(time.Hour),
		watcher.Add("audit", opinionated, watcher.Concurrency(1), watcher.Retry(watcher.DefaultRetry()), watcher.Dequeue(watcher.Opinionated))))
	h.Apply(small)
	h.RunUntilSettled()
	var refused *watcher.FinalizerError
	fmt.Println(errors.As(error(&watcher.FinalizerError{Finalizer: "a/b", Err: errors.New("forbidden")}), &refused), refused)
	// Output:
	// added small
	// true can't write the finalizer of a watcher: a/b: forbidden
}
