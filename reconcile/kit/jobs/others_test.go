package jobs_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/kit/jobs"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// running is the status of a Job that runs.
var running = fields{"startTime": "2030-01-01T00:00:00Z", "active": int64(1), "ready": int64(1)}

// runningShop is a shop whose Job for version 1 runs while version 2 is wanted.
func runningShop(t *testing.T, opts ...jobs.Option) *reconciletest.Harness {
	t.Helper()
	h := reconciletest.New(t, shop(nil, opts...))
	h.Hold(job1)
	h.Apply(newTea("1"))
	h.RunUntilSettled()
	h.SetStatus(job1, running)
	want(t, h, "2")
	h.RunUntilSettled()
	return h
}

func TestOneAtATime(t *testing.T) {
	t.Parallel()
	t.Run("jobs 10: the Job of a new value waits until the one before has ended, and nothing deletes that one", func(t *testing.T) {
		t.Parallel()
		h := runningShop(t)
		h.Exists(job1)
		h.Gone(job2, web)
		assert.Contains(t, message(h), fmt.Sprintf("waits until Job %s has ended, which runs for the value %q", nameIn(job1), "1"))
		h.Release(job1)
		h.RunUntilSettled()
		h.Created(job2)
		h.Deleted(job1)
		h.Ready("Shop tea")
	})
	t.Run("jobs 10: a Job that fails in the end lets the next one start", func(t *testing.T) {
		t.Parallel()
		h := runningShop(t)
		h.Release(job1)
		h.Break(job1, "BackoffLimitExceeded")
		h.RunUntilSettled()
		h.Created(job2)
		h.Ready("Shop tea")
	})
	t.Run("jobs 10: a value that comes back while the next one runs waits, too, and then runs again", func(t *testing.T) {
		t.Parallel()
		h := settledShop(t)
		h.Hold(job2)
		want(t, h, "2")
		h.RunUntilSettled()
		h.SetStatus(job2, running)
		want(t, h, "1")
		h.RunUntilSettled()
		h.Exists(job2)
		assert.Contains(t, message(h), "waits until Job "+nameIn(job2)+" has ended")
		h.Release(job2)
		h.RunUntilSettled()
		h.Created(job1)
		h.Ready("Shop tea")
		h.Gone(job2)
	})
	t.Run("jobs 10: Jobs of other components and resources aren't waited for", func(t *testing.T) {
		t.Parallel()
		h := runningShop(t)
		other := newTea("3")
		other.SetName("other")
		h.Apply(other)
		h.RunUntilSettled()
		h.Ready("Shop other")
	})
	t.Run("jobs 11: Replace deletes the Job that runs, with its Pods, and then the next one starts", func(t *testing.T) {
		t.Parallel()
		h := runningShop(t, jobs.Replace())
		h.Ready("Shop tea")
		h.Gone(job1)
		h.Exists(job2)
	})
	t.Run("jobs 12: a component that is disabled has no Job, even if one runs", func(t *testing.T) {
		t.Parallel()
		h := runningShop(t)
		h.Edit("Shop tea", func(obj *unstructured.Unstructured) { obj.Object["spec"].(fields)["idle"] = true })
		h.RunUntilSettled()
		h.Gone(job1, job2)
	})
	t.Run("jobs 13: a Job that runs, and that the cache doesn't have yet, is waited for, too", func(t *testing.T) {
		t.Parallel()
		h := runningShop(t)
		reconcileOn(t, h, stale{h.Memory()})
		h.Gone(job2)
		assert.Contains(t, message(h), "waits until Job "+nameIn(job1)+" has ended")
	})
	t.Run("jobs 5: the Jobs of other values are deleted, too, if lists of the cache have only metadata", func(t *testing.T) {
		t.Parallel()
		h := settledShop(t)
		want(t, h, "2")
		_, err := h.Reconcile("Shop tea")
		require.NoError(t, err)
		h.Exists(job1, job2)
		reconcileOn(t, h, bare{h.Memory()})
		h.Gone(job1)
	})
}

// reconcileOn reconciles the shop of a harness once, by another cache.
func reconcileOn(t *testing.T, h *reconciletest.Harness, cluster deploy.Cluster) {
	t.Helper()
	manager, err := deploy.NewManager(cluster)
	require.NoError(t, err)
	r, err := reconcile.New(shop(nil), manager, reconcile.Logger(slog.New(slog.DiscardHandler)))
	require.NoError(t, err)
	_, err = r.Reconcile(t.Context(), request.Request{Key: deploy.RefOf(h.Get("Shop tea"))})
	require.NoError(t, err)
}

// bare is a cluster whose cache lists Jobs with only their metadata.
type bare struct{ *dryrun.Cluster }

func (b bare) View() deploy.View { return bareView{b.Cluster.View()} }

type bareView struct{ deploy.View }

func (v bareView) List(ctx context.Context, kind schema.GroupVersionKind, namespace string, selector labels.Selector) ([]*unstructured.Unstructured, error) {
	found, err := v.View.List(ctx, kind, namespace, selector)
	for i, obj := range found {
		if kind.Kind == "Job" {
			found[i] = &unstructured.Unstructured{Object: fields{"apiVersion": "batch/v1", "kind": "Job", "metadata": obj.Object["metadata"]}}
		}
	}
	return found, err
}

// stale is a cluster whose cache has no Jobs yet.
type stale struct{ *dryrun.Cluster }

func (s stale) View() deploy.View { return staleView{s.Cluster.View()} }

type staleView struct{ deploy.View }

func (v staleView) Get(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	if ref.Kind.Kind == "Job" {
		return nil, nil
	}
	return v.View.Get(ctx, ref)
}

func (v staleView) List(ctx context.Context, kind schema.GroupVersionKind, namespace string, selector labels.Selector) ([]*unstructured.Unstructured, error) {
	if kind.Kind == "Job" {
		return nil, nil
	}
	return v.View.List(ctx, kind, namespace, selector)
}

func TestKills(t *testing.T) {
	t.Parallel()
	const writes = 10 // from the creation of the shop until version 2 is Ready
	for nth := 1; nth <= writes; nth++ {
		for _, arrives := range []bool{false, true} {
			t.Run(fmt.Sprintf("jobs 14: after a kill at write %d (arrives: %t) each value has run once", nth, arrives), func(t *testing.T) {
				t.Parallel()
				ran := map[string]map[types.UID]bool{}
				h := reconciletest.New(t, shop(nil), reconciletest.Simulate(schema.GroupKind{Group: "batch", Kind: "Job"},
					func(obj *unstructured.Unstructured) fields {
						if ran[obj.GetName()] == nil {
							ran[obj.GetName()] = map[types.UID]bool{}
						}
						ran[obj.GetName()][obj.GetUID()] = true
						return complete
					}))
				h.Kill(nth, arrives)
				h.Apply(newTea("1"))
				h.RunUntilSettled()
				want(t, h, "2")
				h.RunUntilSettled()
				h.Ready("Shop tea")
				h.Gone(job1)
				h.Exists(job2)
				assert.Len(t, ran, 2)
				for name, uids := range ran {
					assert.Len(t, uids, 1, name)
				}
			})
		}
	}
}

func TestKillsOfReplace(t *testing.T) {
	t.Parallel()
	for nth := 1; nth <= 6; nth++ { // from the Job of version 2 until version 1 is Ready again
		for _, arrives := range []bool{false, true} {
			t.Run(fmt.Sprintf("jobs 14: after a kill at write %d (arrives: %t) a value that comes back runs after the replaced Job", nth, arrives), func(t *testing.T) {
				t.Parallel()
				h := settledShop(t, jobs.Replace())
				before := h.Get(job1).GetUID()
				h.Advance(time.Minute)
				h.Hold(job2)
				want(t, h, "2")
				h.Kill(nth, arrives)
				_, _ = h.Reconcile("Shop tea")
				began := slices.ContainsFunc(h.Memory().Objects(), func(obj *unstructured.Unstructured) bool { return "Job "+obj.GetName() == job2 })
				want(t, h, "1")
				h.RunUntilSettled()
				h.Ready("Shop tea")
				h.Gone(job2)
				assert.Equal(t, began, before != h.Get(job1).GetUID())
			})
		}
	}
}

// complete is the status of a Job that has succeeded.
var complete = fields{"startTime": "2030-01-01T00:00:00Z", "succeeded": int64(1), "conditions": list{fields{"type": "Complete", "status": "True"}}}
