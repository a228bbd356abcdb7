package explore

import (
	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// claim is what a status claims.
type claim struct {
	// ready: the resource is Ready for its present generation. observed is the generation that the status names, 0 if
	// it names none.
	ready    bool
	observed int64
}

func claimOf(obj *unstructured.Unstructured) (c claim) {
	ready, _ := status.Conditions(obj).Get(status.ConditionReady)
	c.observed, _, _ = unstructured.NestedInt64(obj.Object, "status", "observedGeneration")
	if ready.ObservedGeneration != 0 {
		c.observed = ready.ObservedGeneration
	}
	c.ready = ready.Status == metav1.ConditionTrue && (c.observed == 0 || c.observed == obj.GetGeneration())
	return c
}

// claimOf returns what the status of a whole object claims, nothing if Ready is ignored.
func (o *options) claimOf(obj *unstructured.Unstructured) claim {
	ref := deploy.RefOf(obj)
	if o.ignoresObject(ref) || o.ignoresField(ref, "status.conditions[Ready].status") {
		return claim{}
	}
	return claimOf(obj)
}

// early finds a status that just begins to claim that a resource is Ready while a workload isn't.
func (w *witness) early(ref deploy.Ref) []fault {
	obj, err := w.harness.Memory().View().Get(w.trial.ctx, ref)
	if err != nil || obj == nil {
		return nil
	}
	before, now := w.claims[refName(ref)], w.options.claimOf(obj)
	w.claims[refName(ref)] = now
	if !now.ready || now == before {
		return nil
	}
	return untruth(obj, w.options.unreadyOf(obj, w.harness.Memory().Objects()))
}
