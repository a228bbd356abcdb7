package main

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	v1 "github.com/operkit/operkit/examples/from-kopf/api/v1"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/handlers"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/types"
)

// Short names for the types of the handlers. An Index has a text for the PVCs that it knows about.
type (
	Claim   = v1.EphemeralVolumeClaim
	Request = handlers.Request[Claim]
	Index   = handlers.Index[types.NamespacedName, string]
)

// Claims returns what happens in the life of a claim.
func Claims() *handlers.Handlers[Claim] {
	h := handlers.New[Claim](v1.EphemeralVolumeClaimKind)
	users := handlers.NewIndex(h, "users", podKind, usedBy)
	sizes := handlers.NewIndex(h, "sizes", pvcKind, sizeOf)
	h.On(handlers.Create|handlers.Resume, "pvc", create, handlers.Reports("Claimed"))
	h.Field("spec.size", "grow", grow(sizes), handlers.Backoff(10*time.Second), handlers.Reports("Grown"))
	h.Field("metadata.labels", "relabel", relabel)
	h.On(handlers.Delete, "detach", detach(users), handlers.Backoff(10*time.Second), handlers.Within(time.Hour))
	h.Timer("expire", time.Minute, expire, handlers.When(func(c *Claim) bool { return c.Spec.TTL != nil }))
	h.Daemon("measure", measure(sizes), handlers.Grace(5*time.Second))
	return h
}

// create creates the PVC, unless it is there, and gives it the labels of the claim.
func create(ctx context.Context, r *Request) error {
	pvc, err := find(ctx, r)
	if pvc == nil && err == nil {
		err = r.Apply(ctx, volume(r.Object))
	}
	if err != nil {
		return err
	}
	r.Update(func(c *Claim) { c.Status.PVC = c.Name })
	return label(ctx, r, func(labels map[string]string) { maps.Copy(labels, r.Object.Labels) })
}

// grow makes the PVC larger, once it has a volume: the API server refuses it before that.
func grow(sizes *Index) handlers.Func[Claim] {
	return func(ctx context.Context, r *Request) error {
		if r.Old != nil && r.Object.Spec.Size.Cmp(r.Old.Spec.Size) < 0 {
			return request.Permanent(fmt.Errorf("spec.size: a volume can't shrink from %s to %s: set at least the former size",
				r.Old.Spec.Size.String(), r.Object.Spec.Size.String()))
		}
		if len(sizes.Get(keyOf(r))) == 0 {
			return request.Precondition("the PVC has no volume yet, which may wait for the first Pod")
		}
		return r.Apply(ctx, volume(r.Object))
	}
}

// relabel passes changes of labels on, one after the other. Other labels of the PVC stay as they are.
func relabel(ctx context.Context, r *Request) error {
	if r.Old == nil { // the former state was too large to be stored: a removed label isn't known
		return label(ctx, r, func(labels map[string]string) { maps.Copy(labels, r.Object.Labels) })
	}
	for _, change := range r.Diff {
		key := change.Path[0]
		if err := r.Step(ctx, key, func(ctx context.Context) error {
			return label(ctx, r, func(labels map[string]string) {
				if value, ok := r.Object.Labels[key]; ok {
					labels[key] = value
				} else {
					delete(labels, key)
				}
			})
		}); err != nil {
			return err
		}
	}
	return nil
}

// detach waits until no Pod uses the PVC. Then the cluster deletes it with the claim, which owns it.
func detach(users *Index) handlers.Func[Claim] {
	return func(_ context.Context, r *Request) error {
		if pods := users.Get(keyOf(r)); len(pods) > 0 {
			return request.Precondition("the volume is in use by Pods: %s", strings.Join(pods, ", "))
		}
		return nil
	}
}

// expire deletes the claim when its time is over.
func expire(ctx context.Context, r *Request) error {
	if r.Started.Sub(r.Object.CreationTimestamp.Time) < r.Object.Spec.TTL.Duration {
		return nil
	}
	r.Record(event.Normal, "Expired", "its %s are over", r.Object.Spec.TTL.Duration)
	return r.Delete(ctx)
}

// measure keeps the size that the volume has in the status.
func measure(sizes *Index) handlers.Func[Claim] {
	return func(ctx context.Context, r *Request) error {
		for r.Sleep(ctx, 10*time.Second) {
			size := strings.Join(sizes.Get(keyOf(r)), "")
			if r.Latest().Status.Capacity == size {
				continue
			}
			r.Update(func(c *Claim) { c.Status.Capacity = size })
			if err := r.Flush(ctx); err != nil {
				return err
			}
		}
		return nil
	}
}
