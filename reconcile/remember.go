package reconcile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/internal/lifecycle"
	"github.com/operkit/operkit/reconcile/internal/memory"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Forget implements watch.Forgetter: it drops what is remembered about a resource that is gone or has left the view. It
// never blocks.
func (r *Reconciler) Forget(key deploy.Ref) {
	r.lifecycle.Forget(key)
}

// update calls f to change what is remembered about the resource.
func (s *Session) update(f func(*memory.Resource)) {
	s.reconciler.lifecycle.Memory.Update(deploy.RefOf(s.resource), f)
}

// keepUnwritten remembers the kinds of an outcome that wasn't written into the status. If the resource stops rendering
// such a kind before the status is written, the objects of the kind are still found and pruned. o is nil for a
// reconcile that applied nothing.
func (s *Session) keepUnwritten(o *Outcome) {
	if o != nil && len(o.kinds) > 0 {
		s.update(func(m *memory.Resource) { m.Unwritten = o.kinds })
	}
}

// advanced reports whether a session that ended with err has left more objects as they should be than any earlier
// session that failed. Such a resource makes progress, so its backoff begins anew. That happens at most as often as the
// resource has objects.
func (s *Session) advanced(err error) (further bool) {
	objects := 0
	for result := range s.results() {
		if result.Err == nil {
			objects++
		}
	}
	s.update(func(m *memory.Resource) {
		if err == nil {
			m.ForgetAdvance()
		} else {
			further = m.Advance(s.resource, objects)
		}
	})
	return further
}

// exhausted makes an error permanent after MaxAttempts attempts. Errors that pass by themselves don't count: the
// cluster didn't answer, another writer was faster, or only contested objects failed, which are left alone for a while.
func (s *Session) exhausted(ctx context.Context, err error) error {
	limit := s.reconciler.options.maxAttempts
	if limit == 0 {
		return err
	}
	if err == nil || request.IsWaiting(err) {
		s.update((*memory.Resource).ForgetFailures)
		return err
	}
	if lifecycle.Passes(err) {
		return err
	}
	failures := 0
	s.update(func(m *memory.Resource) {
		if failures = m.Fail(s.resource); failures >= limit {
			m.ForgetFailures() // a change of the resource starts counting anew
		}
	})
	if failures < limit {
		return err
	}
	err = fmt.Errorf("given up after %d attempts: %w", failures, err)
	if failed := hooked(s, "exhausted", func(c Exhauster) error { return c.Exhausted(ctx, s, err) }); failed != nil {
		err = fmt.Errorf("%w; %w", err, failed)
	}
	return request.Permanent(err)
}

// conclude remembers the result of a session that ended with err, and records events about what has changed.
func (s *Session) conclude(err error) {
	var before, now memory.Count
	var again []string
	var done memory.Changes
	s.reconciler.lifecycle.Memory.Look(deploy.RefOf(s.resource), func(m *memory.Resource) { before = m.Count() })
	now = s.count(before, err)
	s.update(func(m *memory.Resource) {
		m.SetCount(now)
		again = s.created(m)
		done = s.rolledOut(m, now)
	})
	s.record(before, now, err)
	s.reportHang()
	s.logRollout(done)
	for _, text := range again {
		s.logger.Warn("an object is created again each time it has finished", "text", text)
		s.Event(event.Warning, EventRemade, "%s", text)
	}
}

// created remembers which objects were created and which have finished. It returns a text for each object that is
// created again each time it has finished.
func (s *Session) created(m *memory.Resource) (again []string) {
	for _, c := range s.components {
		for _, result := range c.results {
			if result.Action != deploy.Created {
				if m.Watches(result.Ref) && hasFinished(result.Object) {
					m.Finished(result.Ref)
				}
				continue
			}
			ttl, finishes := finishing(c, result)
			times := m.Created(result.Ref, ttl, finishes)
			if times != memory.CreationLimit {
				continue
			}
			why := ""
			if ttl != nil {
				why = fmt.Sprintf(" (ttlSecondsAfterFinished is %v)", ttl)
			}
			again = append(again, fmt.Sprintf("component %s: %s: was created again %d times after it had finished%s: remove what deletes it from the "+
				"manifest, or render it only as long as it is needed; Finished() doesn't prevent this", c.name, result.Ref, times, why))
		}
	}
	if s.ended.outcome != nil && s.ended.outcome.Deployed() {
		rendered := sync.OnceValue(s.deployed) // most resources have no such objects
		m.KeepCreated(func(ref deploy.Ref) bool { return rendered()[ref] })
	}
	return again
}

// deployed returns the objects of the components' results.
func (s *Session) deployed() map[deploy.Ref]bool {
	refs := map[deploy.Ref]bool{}
	for result := range s.results() {
		refs[result.Ref] = true
	}
	return refs
}

// finishing reports whether an object is of a kind that finishes, and returns its ttlSecondsAfterFinished.
func finishing(c *Component, result deploy.Result) (ttl any, finishes bool) {
	of := []*unstructured.Unstructured{result.Object}
	for _, manifest := range c.Objects() {
		if manifest.GetName() == result.Ref.Name && manifest.GroupVersionKind() == result.Ref.Kind {
			of = append(of, manifest)
		}
	}
	for _, obj := range of {
		if obj == nil {
			continue
		}
		spec, _ := obj.Object["spec"].(map[string]any)
		if ttl := spec["ttlSecondsAfterFinished"]; ttl != nil {
			return ttl, true
		}
	}
	kind := result.Ref.Kind.GroupKind().String()
	return nil, kind == "Job.batch" || kind == "Pod"
}

// hasFinished reports whether an object has finished according to its status, successfully or not.
func hasFinished(obj *unstructured.Unstructured) bool {
	if obj == nil {
		return false
	}
	for _, kind := range []string{"Complete", "Failed"} {
		if condition, ok := status.Conditions(obj).Get(kind); ok && condition.Status == metav1.ConditionTrue {
			return true
		}
	}
	phase, _, _ := unstructured.NestedString(obj.Object, "status", "phase")
	return phase == "Succeeded" || phase == "Failed"
}

// fights returns the objects that another process keeps creating and this process keeps pruning.
func (s *Session) fights() (found map[deploy.Ref]memory.Fight) {
	s.reconciler.lifecycle.Memory.Look(deploy.RefOf(s.resource), func(m *memory.Resource) { found = m.Fought(s.reconciler.now()) })
	return found
}

// fightsErr returns an error that names the objects of fights, nil if there are none.
func (s *Session) fightsErr() error {
	fights := s.fights()
	var errs []error
	for _, ref := range slices.SortedFunc(maps.Keys(fights), func(a, b deploy.Ref) int { return strings.Compare(a.String(), b.String()) }) {
		manager := s.manager.FieldManager()
		errs = append(errs, &deploy.ConflictError{
			Ref: ref, Fought: true, SameManager: true, RetryAfter: fights[ref].Left,
			Fields: []deploy.FieldConflict{{Manager: manager, Message: fmt.Sprintf("conflict with %q", manager)}},
		})
	}
	return errors.Join(errs...)
}

// contested counts the objects whose fields others keep setting.
func (s *Session) contested() (count int32) {
	for result := range s.results() {
		if lifecycle.Fought(result.Err) {
			count++
		}
	}
	return count + int32(len(s.fights()))
}
