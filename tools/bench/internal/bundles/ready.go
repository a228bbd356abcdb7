package bundles

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	v1 "github.com/operkit/operkit/tools/bench/api/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// Readiness records which Bundles are Ready at their generation.
type Readiness struct {
	mu      sync.Mutex
	seen    map[string]state
	changed chan struct{}
	failure error
}

// state is the readiness of a Bundle, and when it changed.
type state struct {
	generation, ready int64
	since             time.Time
}

// Follow watches the Bundles until ctx ends. If the API server ends the watch, as it does now and then, Follow starts
// it again.
func (f *Fleet) Follow(ctx context.Context) (*Readiness, error) {
	stream, err := f.watch(ctx)
	if err != nil {
		return nil, err
	}
	r := &Readiness{seen: map[string]state{}, changed: make(chan struct{}, 1)}
	go func() {
		for err == nil && ctx.Err() == nil {
			for event := range stream.ResultChan() {
				r.take(event.Type, event.Object)
			}
			stream, err = f.watch(ctx)
		}
		r.mu.Lock()
		r.failure = cmp.Or(err, context.Cause(ctx))
		r.mu.Unlock()
		r.wake()
	}()
	return r, nil
}

// watch starts a watch that begins with the existing Bundles.
func (f *Fleet) watch(ctx context.Context) (watch.Interface, error) {
	stream, err := f.bundles.Get().Namespace(f.namespace).Resource(plural).
		SpecificallyVersionedParams(&metav1.ListOptions{Watch: true, ResourceVersion: "0"}, metav1.ParameterCodec, metav1.Unversioned).Watch(ctx)
	if err != nil {
		return nil, fmt.Errorf("watch of bundles: %w", err)
	}
	return stream, nil
}

func (r *Readiness) take(kind watch.EventType, obj runtime.Object) {
	bundle, ok := obj.(*v1.Bundle)
	if !ok {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if kind == watch.Deleted {
		delete(r.seen, bundle.Name)
		r.wake()
		return
	}
	now := state{generation: bundle.Generation, since: time.Now()}
	if ready := meta.FindStatusCondition(bundle.Status.Conditions, v1.ConditionReady); ready != nil && ready.Status == metav1.ConditionTrue {
		now.ready = ready.ObservedGeneration
	}
	if before := r.seen[bundle.Name]; before.ready == now.ready {
		now.since = before.since
	}
	r.seen[bundle.Name] = now
	r.wake()
}

func (r *Readiness) wake() {
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

// Await waits until the Bundles from one number up to another are Ready at that generation or a later one, and returns
// when the last one became Ready.
func (r *Readiness) Await(ctx context.Context, from, to int, generation int64) (time.Time, error) {
	var last time.Time
	for next := from; ; {
		r.mu.Lock()
		for ; next < to; next++ {
			now := r.seen[Name(next)]
			if now.ready < generation || now.ready != now.generation {
				break
			}
			if now.since.After(last) {
				last = now.since
			}
		}
		failure := r.failure
		r.mu.Unlock()
		switch {
		case next == to:
			return last, nil
		case failure != nil:
			return last, failure
		}
		select {
		case <-r.changed:
		case <-ctx.Done():
			return last, fmt.Errorf("bundle %s isn't Ready at generation %d: %w", Name(next), generation, context.Cause(ctx))
		}
	}
}
