package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	v1 "github.com/operkit/operkit/examples/buckets/api/v1"
	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/watcher"
)

// Short names for the types of the watchers.
type (
	Bucket  = v1.Bucket
	Funcs   = watcher.Funcs[Bucket]
	Request = watcher.Request[Bucket]
)

// Buckets returns the watchers of buckets. trail gets the audit trail.
func Buckets(c *client, trail *slog.Logger) *watcher.Watchers[Bucket] {
	return watcher.New[Bucket](v1.BucketKind,
		watcher.When(filter.Or(filter.Lifecycle(), filter.Generation())),
		watcher.Retry(retry), watcher.Resync(10*time.Minute),
		watcher.Add("cloud", watcher.Opinionate(Funcs{Add: c.put, Update: c.update, Delete: c.remove, Sync: c.sync},
			watcher.Finalizer("buckets.examples.operkit.dev/cloud"), watcher.InProgress())),
		watcher.Add("audit", audit{trail}),
		watcher.AddReconciler("quota", c.quota, watcher.Dequeue(nil)))
}

// retry repeats a call each minute as long as the cloud isn't ready for it, and after other errors up to five times.
func retry(err error, attempt int) (after time.Duration, again bool) {
	if request.IsWaiting(err) {
		return time.Minute, true
	}
	return watcher.Exponential(5*time.Second, 5)(err, attempt)
}

// update passes a change on. It doesn't compare b with the old state: if a call has failed, nobody knows which of its
// changes have arrived.
func (c *client) update(ctx context.Context, _, b *Bucket) error { return c.put(ctx, b) }

// sync compares the bucket in the cloud with what it should be, and mends it.
func (c *client) sync(ctx context.Context, b *Bucket) error {
	found, err := c.get(ctx, b)
	if errors.Is(err, errNotFound) || err == nil && found.Public != b.Spec.Public {
		return c.put(ctx, b)
	}
	return err
}

// remove deletes the bucket in the cloud, which refuses that as long as there is something in it.
func (c *client) remove(ctx context.Context, b *Bucket) error {
	if err := c.delete(ctx, b); !errors.Is(err, errNotFound) {
		return err
	}
	return nil
}

// quota sets the quota of the bucket. The cloud does that by a job, which is the state from one call to the next one.
func (c *client) quota(ctx context.Context, r Request) (watcher.Result, error) {
	if r.Action == watcher.Deleted || r.Object.DeletionTimestamp != nil {
		return watcher.Result{}, nil
	}
	if job, ok := r.State.(string); ok {
		if done, err := c.isDone(ctx, job); err != nil || !done {
			return watcher.Result{RequeueAfter: c.poll}, err
		}
	}
	found, err := c.get(ctx, r.Object)
	switch {
	case errors.Is(err, errNotFound):
		return watcher.Result{}, request.Precondition("the bucket isn't in the cloud yet")
	case err != nil || found.Quota == r.Object.Spec.Quota.Value():
		return watcher.Result{}, err
	}
	job, err := c.setQuota(ctx, r.Object)
	return watcher.Result{RequeueAfter: c.poll, State: job}, err
}

// audit writes down what happens to buckets.
type audit struct{ trail *slog.Logger }

// Add implements watcher.Watcher. It is called for each bucket at each start, too.
func (a audit) Add(_ context.Context, b *Bucket) error { return a.write("found", b) }

// Update implements watcher.Watcher.
func (a audit) Update(_ context.Context, old, b *Bucket) error {
	if old.Generation == b.Generation || b.DeletionTimestamp != nil {
		return nil // a resync, or the beginning of a deletion
	}
	return a.write("changed", b)
}

// Delete implements watcher.Watcher.
func (a audit) Delete(_ context.Context, b *Bucket) error { return a.write("gone", b) }

func (a audit) write(what string, b *Bucket) error {
	a.trail.Info(what, "bucket", nameOf(b), "spec", b.Spec)
	return nil
}
