package engine

import (
	"maps"
	"time"

	"github.com/operkit/operkit/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// settling is the time after our write of a child in which its status may be about the state before, if the status
// doesn't show its generation.
const settling = 10 * time.Second

// isHealthy reports whether a child is healthy in the state that was written last.
func (p *pass) isHealthy(kind schema.GroupVersionKind, child *unstructured.Unstructured) bool {
	if !p.children[kind].Healthy(child) {
		return false
	}
	if since := p.unobservedSince(child); !since.IsZero() {
		if rest := since.Add(settling).Sub(p.Now()); rest > 0 {
			p.recheckIn(rest)
			return false
		}
	}
	return true
}

// unobservedSince returns the time of our last write of a child if the status may be about the state before. It is zero
// if the status is about the present state, and if the child has no status at all, such as a ConfigMap.
func (p *pass) unobservedSince(child *unstructured.Unstructured) time.Time {
	content, _ := child.Object["status"].(map[string]any)
	content = maps.Clone(content)
	maps.DeleteFunc(content, func(_ string, value any) bool { // such as the loadBalancer of a Service
		fields, isMap := value.(map[string]any)
		return isMap && len(fields) == 0
	})
	generation := child.GetGeneration()
	if len(content) == 0 && generation == 0 || isObserved(child, content, generation) {
		return time.Time{}
	}
	var written, reported time.Time
	for _, entry := range child.GetManagedFields() {
		switch {
		case entry.Time == nil:
		case entry.Subresource == "status":
			reported = later(reported, entry.Time)
		case entry.Manager == p.Manager.FieldManager() && entry.Subresource == "":
			written = later(written, entry.Time)
		}
	}
	isNew := generation <= 1 && !written.After(child.GetCreationTimestamp().Time)
	if reported.After(written) || isNew && len(content) > 0 {
		return time.Time{}
	}
	return written
}

func later(a time.Time, b *metav1.Time) time.Time {
	if b.After(a) {
		return b.Time
	}
	return a
}

// isObserved reports whether a status shows that it is about a generation.
func isObserved(child *unstructured.Unstructured, content map[string]any, generation int64) bool {
	if observed, ok := content["observedGeneration"].(int64); ok && generation > 0 {
		return observed >= generation
	}
	for _, condition := range status.Conditions(child).List() {
		if condition.ObservedGeneration > 0 && generation > 0 {
			return condition.ObservedGeneration >= generation
		}
	}
	return false
}
