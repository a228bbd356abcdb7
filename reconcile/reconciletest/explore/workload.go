package explore

import (
	"fmt"
	"slices"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/status/readiness"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// workloadKinds are the kinds without which a resource can't be Ready.
var workloadKinds = []string{"Deployment", "StatefulSet", "DaemonSet"}

// unreadyOf says which workloads of a resource aren't ready, among whole objects. A workload with an ignored field of
// its status doesn't count.
func (o *options) unreadyOf(owner *unstructured.Unstructured, objects []*unstructured.Unstructured) (details []string) {
	for _, obj := range objects {
		ref := deploy.RefOf(obj)
		if !isWorkload(ref) || !owned(obj, owner.GetUID()) || o.ignoresPart(ref, "status") {
			continue
		}
		if result := readiness.Of(obj); !result.Ready() {
			details = append(details, fmt.Sprintf("is Ready, but %s isn't: %s", nameOf(obj), result.Message))
		}
	}
	return details
}

func isWorkload(ref deploy.Ref) bool {
	return ref.Kind.Group == "apps" && slices.Contains(workloadKinds, ref.Kind.Kind)
}

func owned(obj *unstructured.Unstructured, by types.UID) bool {
	return slices.ContainsFunc(obj.GetOwnerReferences(), func(owner metav1.OwnerReference) bool { return owner.UID == by })
}
