package reconcile

import (
	"strings"
	"time"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// paused tells whether a resource rests (spec: reconcile 38): by the annotation <domain>/pause-execution, "true" in
// whatever case, or a time (RFC 3339) that is still to come. left is how long it is until then; zero means as long as
// the annotation says so. What is neither is no pause; if it isn't "false" either, that is said.
func (r *Reconciler) paused(resource *unstructured.Unstructured) (rests bool, left time.Duration) {
	key := r.manager.KeyDomain() + "/pause-execution"
	value := strings.TrimSpace(resource.GetAnnotations()[key])
	switch {
	case strings.EqualFold(value, "true"):
		return true, 0
	case value == "" || strings.EqualFold(value, "false"):
		return false, 0
	}
	until, err := time.Parse(time.RFC3339, value)
	if err != nil {
		r.options.logger.Warn("not paused: the annotation is neither true nor a time such as 2030-01-31T18:00:00Z",
			"object", deploy.RefOf(resource).String(), "annotation", key, "value", value)
		return false, 0
	}
	left = until.Sub(r.now())
	return left > 0, max(left, 0)
}
