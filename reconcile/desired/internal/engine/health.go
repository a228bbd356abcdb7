package engine

import (
	"maps"
	"reflect"
	"time"

	"github.com/operkit/operkit/reconcile/desired/internal/plan"
	"github.com/operkit/operkit/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// settling is the time after our write of a child in which its status may be about the state before, if the status
// doesn't show its generation.
const settling = 10 * time.Second

// isHealthy reports whether a child is healthy. While its status may be about the state before our last write, a
// current child isn't known to be healthy, and an outdated one isn't known to be unhealthy: it mustn't be updated
// before its turn because of that.
func (p *pass) isHealthy(child *unstructured.Unstructured, state plan.State) bool {
	if !p.children[child.GroupVersionKind()].Healthy(child) {
		return false
	}
	since := p.unobservedSince(child)
	if since.IsZero() || state == plan.Outdated {
		return true
	}
	rest := since.Add(settling).Sub(p.Now())
	if rest > 0 {
		p.recheckIn(rest)
	}
	return rest <= 0
}

// unobservedSince returns the time of our last write of a child if its status may be about the state before. It is zero
// if the status is about the present state, and if the child has no status at all, such as a ConfigMap.
func (p *pass) unobservedSince(child *unstructured.Unstructured) time.Time {
	content, generation := statusOf(child), child.GetGeneration()
	if len(content) == 0 && generation == 0 || isObserved(child, content, generation) {
		return time.Time{}
	}
	if generation == 1 && len(content) > 0 {
		return time.Time{} // it hasn't changed since it was created
	}
	write, known := p.recent.of(p.key, child.GetUID())
	switch {
	case !known:
		return p.since // the process before may have written it just before its end
	case !reflect.DeepEqual(write.status, content):
		return time.Time{}
	}
	return write.at
}

// statusOf returns the status of a child without empty maps, such as the loadBalancer of a Service.
func statusOf(child *unstructured.Unstructured) map[string]any {
	content, _ := child.Object["status"].(map[string]any)
	content = maps.Clone(content)
	maps.DeleteFunc(content, func(_ string, value any) bool {
		fields, isMap := value.(map[string]any)
		return isMap && len(fields) == 0
	})
	return content
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
