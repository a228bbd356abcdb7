package deploy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// WaitReady makes Apply wait until ready returns true for each applied object, before it applies the objects that may
// need these, and before it returns. It waits until the deadline of ctx, or for DefaultWait if ctx has none. An object
// that isn't ready in time is Failed with a *TimeoutError. ready gets the object as the View shows it and must not
// change it. A dry run doesn't wait.
func WaitReady(ready func(obj *unstructured.Unstructured) bool) Option {
	return func(s *settings) { s.ready = ready }
}

// applyStages applies Namespaces and CustomResourceDefinitions first, and then the other objects.
func (m *Manager) applyStages(ctx context.Context, s settings, objects []*unstructured.Unstructured, refs []Ref) (Results, error) {
	var first []int
	rest := make([]int, 0, len(objects))
	for i, ref := range refs {
		if isFoundation(ref.Kind.GroupKind()) {
			first = append(first, i)
		} else {
			rest = append(rest, i)
		}
	}
	run := stageRun{Manager: m, settings: s, objects: objects, refs: refs, results: make(Results, len(objects))}
	run.stage(ctx, first)
	if len(rest) > 0 && !run.stopped {
		run.waitServed(ctx, first)
		run.stage(ctx, rest)
	}
	results := slices.DeleteFunc(run.results, func(result Result) bool { return result.Action == "" })
	if len(results) < len(objects) && ctx.Err() != nil {
		return results, errors.Join(results.Err(), context.Cause(ctx))
	}
	return results, results.Err()
}

// isFoundation reports whether other objects may need objects of the kind to exist.
func isFoundation(kind schema.GroupKind) bool {
	return kind == schema.GroupKind{Kind: "Namespace"} || kind == definitionKind
}

var definitionKind = schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}

// stageRun is one call of Apply.
type stageRun struct {
	*Manager
	settings
	objects []*unstructured.Unstructured
	// refs are the references of the objects, as their manifests name them.
	refs []Ref

	mu sync.Mutex
	// results are in the order of objects. The result of an object that wasn't begun has no action.
	results Results
	stopped bool
}

// stage applies the objects with these indexes, several at once.
func (r *stageRun) stage(ctx context.Context, which []int) {
	if limit := min(r.concurrency, len(which)); limit > 1 && !r.stopOnFailure {
		work := make(chan int)
		var running sync.WaitGroup
		for range limit {
			running.Go(func() {
				for i := range work {
					r.one(ctx, i)
				}
			})
		}
		for _, i := range which {
			work <- i
		}
		close(work)
		running.Wait()
	} else {
		for _, i := range which {
			r.one(ctx, i)
		}
	}
	r.waitReady(ctx, which)
}

// one applies one object, unless the call has ended.
func (r *stageRun) one(ctx context.Context, i int) {
	r.mu.Lock()
	stop := r.stopped
	r.mu.Unlock()
	if stop || ctx.Err() != nil {
		return
	}
	result := r.applyOne(ctx, r.settings, r.objects[i], r.refs[i])
	r.mu.Lock()
	defer r.mu.Unlock()
	r.results[i] = result
	r.stopped = result.Err != nil && r.stopOnFailure
	r.report(result)
}

// waitServed waits until the kinds that were just defined are served. It waits only for kinds that other objects of the
// call have. If a kind isn't served in time, the results of its objects have the error.
func (r *stageRun) waitServed(ctx context.Context, definitions []int) {
	for _, i := range definitions {
		if r.dryRun || r.results[i].Action == "" || r.results[i].Err != nil {
			continue
		}
		for _, kind := range definedKinds(r.objects[i]) {
			if slices.ContainsFunc(r.refs, func(ref Ref) bool { return ref.Kind == kind }) {
				r.waitKind(ctx, kind)
			}
		}
	}
}

func (r *stageRun) waitKind(ctx context.Context, kind schema.GroupVersionKind) {
	// The results of the objects will have the error.
	_ = waitUntil(ctx, func(ctx context.Context) (bool, error) {
		_, err := r.port.Scope(ctx, kind)
		if is[*KindUnknownError](err) {
			return false, nil
		}
		return err == nil, err
	})
}

// definedKinds returns the kinds that a CustomResourceDefinition serves.
func definedKinds(definition *unstructured.Unstructured) []schema.GroupVersionKind {
	group, _, _ := unstructured.NestedString(definition.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(definition.Object, "spec", "names", "kind")
	// NestedSlice would panic on a manifest whose numbers are ints, because it copies.
	field, _, _ := unstructured.NestedFieldNoCopy(definition.Object, "spec", "versions")
	var kinds []schema.GroupVersionKind
	for _, version := range mapsOf(field) {
		name, _ := version["name"].(string)
		if served, _ := version["served"].(bool); served {
			kinds = append(kinds, schema.GroupVersionKind{Group: group, Version: name, Kind: kind})
		}
	}
	return kinds
}

// waitReady waits until the applied objects of a stage are ready. It checks one object after the other.
func (r *stageRun) waitReady(ctx context.Context, which []int) {
	if r.ready == nil || r.dryRun {
		return
	}
	var pending []*Result
	for _, i := range which {
		if result := &r.results[i]; result.Action != "" && result.Err == nil && result.Action != Skipped {
			pending = append(pending, result)
		}
	}
	err := waitUntil(ctx, func(ctx context.Context) (bool, error) {
		pending = slices.DeleteFunc(pending, func(result *Result) bool { return r.waitedFor(ctx, result) })
		return len(pending) == 0, nil
	})
	for _, result := range pending {
		result.Action, result.Err = Failed, r.notReady(ctx, *result, err)
		r.report(*result)
	}
	if r.stopOnFailure && slices.ContainsFunc(which, func(i int) bool { return r.results[i].Err != nil }) {
		r.stopped = true
	}
}

// waitedFor reports whether the wait for an object is over: the object is ready, or it can't be read.
func (r *stageRun) waitedFor(ctx context.Context, result *Result) bool {
	obj, err := r.view.Get(ctx, result.Ref)
	switch {
	case err != nil && ctx.Err() == nil && !is[*UnavailableError](err):
		result.Action, result.Err = Failed, err
	case err != nil || obj == nil:
		return false
	default:
		if result.Object = obj; !r.ready(obj) {
			return false
		}
	}
	r.report(*result)
	return true
}

func (r *stageRun) report(result Result) {
	if r.onResult != nil {
		r.onResult(result)
	}
}

// notReady returns the error for an object that isn't ready.
func (r *stageRun) notReady(ctx context.Context, result Result, err error) error {
	if !outOfTime(ctx, err) {
		return fmt.Errorf("%s: it was %s, and the wait for it was interrupted: %w", result.Ref, result.Action, err)
	}
	return &TimeoutError{Ref: result.Ref, Reason: fmt.Sprintf("it was %s and isn't ready", result.Action), Err: err}
}
