package reconcile

import (
	"fmt"
	"sync"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// remadeLimit is how often an object is made anew after it had finished before that is reported.
const remadeLimit = 2

// remade counts how often objects that finish, such as Jobs, are created although they have been created before and had
// finished since. Objects that were made by another process count from then on. The zero value is ready for use; it is
// safe for concurrent use.
type remade struct {
	mu    sync.Mutex
	known map[place]map[deploy.Ref]*remaking
}

// remaking is what is known of one object that was created.
type remaking struct {
	// finished: it has finished since it was created, as far as that was seen. ttl is its ttlSecondsAfterFinished, nil if
	// it has none: such an object may have gone unseen.
	finished bool
	ttl      any
	times    int
}

// note counts what a session has created, and records an event and a line in the log about each object that is made
// anew again and again, once.
func (r *remade) note(s *Session) {
	at := s.place()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range s.components {
		for _, result := range c.results {
			if one := r.known[at][result.Ref]; one != nil && result.Action != deploy.Created {
				one.finished = one.finished || hasFinished(result.Object)
			}
			if result.Action == deploy.Created && r.created(at, c, result) {
				one := r.known[at][result.Ref]
				text := fmt.Sprintf("component %s: %s: was made anew %d times after it had finished%s: leave what deletes it out of the manifest, "+
					"so that it stays, or render it only as long as it is needed; Finished() doesn't keep it", c.name, result.Ref, one.times, one.why())
				s.logger.Warn("made anew again and again", "text", text)
				s.Event(event.Warning, EventRemade, "%s", text)
			}
		}
	}
}

// created counts a creation, and reports whether it is one too many for the first time.
func (r *remade) created(at place, c *Component, result deploy.Result) bool {
	ttl, finishes := finishing(c, result)
	if !finishes {
		return false
	}
	one := r.known[at][result.Ref]
	if one == nil {
		if r.known == nil {
			r.known = map[place]map[deploy.Ref]*remaking{}
		}
		if r.known[at] == nil {
			r.known[at] = map[deploy.Ref]*remaking{}
		}
		r.known[at][result.Ref] = &remaking{ttl: ttl}
		return false
	}
	if one.finished || one.ttl != nil {
		one.times++
	}
	one.finished, one.ttl = false, ttl
	return one.times == remadeLimit
}

// why is what deletes the object, as far as it is known.
func (o *remaking) why() string {
	if o.ttl == nil {
		return ""
	}
	return fmt.Sprintf(" (ttlSecondsAfterFinished is %v)", o.ttl)
}

func (r *remade) forget(ref deploy.Ref) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.known, place{ref.Namespace, ref.Name})
}

// finishing reports whether an object finishes, and after what time it is deleted then.
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

// hasFinished reports whether an object says that it has finished, well or not.
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
