package explore

import (
	"maps"
	"slices"

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

// claimed is a status that begins to claim that a resource is Ready, and the workloads that are there by then.
type claimed struct {
	resource  string
	workloads []string
}

// early finds a status that just begins to claim that a resource is Ready while a workload isn't, and notes what it has
// begun with.
func (w *witness) early(now *lived, ref deploy.Ref) []fault {
	obj, err := w.harness.Memory().View().Get(w.trial.ctx, ref)
	if err != nil || obj == nil {
		return nil
	}
	before, present := w.claims[refName(ref)], w.options.claimOf(obj)
	w.claims[refName(ref)] = present
	if !present.ready || present == before {
		return nil
	}
	objects := w.harness.Memory().Objects()
	all := claimed{resource: nameOf(obj)}
	for _, one := range objects {
		if isWorkload(deploy.RefOf(one)) {
			all.workloads = append(all.workloads, nameOf(one))
		}
	}
	now.claimed = append(now.claimed, all)
	return untruth(obj, w.options.unreadyOf(obj, objects))
}

// premature finds a status that claims that a resource is Ready before one of its workloads is there.
func (l *lesson) premature(tr *trace) *finding {
	for n, now := range tr.chapters {
		for _, claim := range now.claimed {
			for _, object := range slices.Sorted(maps.Keys(l.chapters[n].end)) {
				content := &unstructured.Unstructured{Object: l.chapters[n].end[object]}
				missing := isWorkload(deploy.RefOf(content)) && !slices.Contains(claim.workloads, object)
				if missing && !now.passed && ownedByName(content, claim.resource) {
					return found(tr, n, untrue, claim.resource+" is Ready before "+object+" is there")
				}
			}
		}
	}
	return nil
}

// ownedByName reports whether an object of a state belongs to a resource.
func ownedByName(obj *unstructured.Unstructured, resource string) bool {
	return slices.ContainsFunc(obj.GetOwnerReferences(), func(owner metav1.OwnerReference) bool {
		of := &unstructured.Unstructured{}
		of.SetAPIVersion(owner.APIVersion)
		of.SetKind(owner.Kind)
		of.SetName(owner.Name)
		of.SetNamespace(obj.GetNamespace())
		return nameOf(of) == resource
	})
}
