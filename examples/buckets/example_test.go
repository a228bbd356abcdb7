package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	v1 "github.com/operkit/operkit/examples/buckets/api/v1"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/watcher"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// console is a T that prints nothing, for the example: a test has its *testing.T.
type console struct{ testing.TB }

func (console) Helper()                  {}
func (console) Context() context.Context { return context.Background() }
func (console) Cleanup(func())           {}
func (console) Failed() bool             { return false }
func (console) Logf(string, ...any)      {}

// store was a watcher of the app SDK. Its methods get a *Bucket now, instead of a resource.Object.
type store struct{}

func (store) Add(_ context.Context, b *Bucket) error {
	fmt.Println("create", b.Name)
	return nil
}

func (store) Update(_ context.Context, old, b *Bucket) error {
	fmt.Println("change the quota from", &old.Spec.Quota, "to", &b.Spec.Quota)
	return nil
}

func (store) Delete(_ context.Context, b *Bucket) error {
	fmt.Println("delete", b.Name)
	return nil
}

// A new operator takes over the objects of one that was written with the app SDK. The finalizer says that the old one
// has added this bucket.
func Example_move() {
	funcs := watcher.Wrap(store{}, false)
	funcs.Sync = func(_ context.Context, b *Bucket) error {
		fmt.Println("check", b.Name)
		return nil
	}
	h := reconciletest.Drive(console{}, watcher.New[Bucket](v1.BucketKind,
		watcher.Retry(watcher.Exponential(5*time.Second, 6)), // six retries are what the SDK makes of 5
		watcher.Add("store", watcher.Opinionate(funcs,
			watcher.Finalizer("storage-buckets-finalizer"), watcher.InProgress("storage-wip")))))
	h.Apply(`
apiVersion: examples.operkit.dev/v1
kind: Bucket
metadata: {name: photos, finalizers: [storage-buckets-finalizer]}
spec: {region: north, quota: 5Gi}`)
	h.RunUntilSettled()
	h.Edit("Bucket photos", func(b *unstructured.Unstructured) {
		b.Object["spec"] = map[string]any{"region": "north", "quota": "7Gi"}
	})
	h.RunUntilSettled()
	h.Delete("Bucket photos")
	h.RunUntilSettled()
	// Output:
	// check photos
	// change the quota from 5Gi to 7Gi
	// delete photos
}
