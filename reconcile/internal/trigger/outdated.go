package trigger

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// isOutdated tells whether the newest generation that the status of an object speaks of, in any condition, is an older
// one: it has changed while nobody was there. Of one whose status speaks of none nothing is known.
func isOutdated(obj *unstructured.Unstructured) bool {
	status, _ := obj.Object["status"].(map[string]any)
	newest := observed(status)
	conditions, _ := status["conditions"].([]any)
	for _, item := range conditions {
		condition, _ := item.(map[string]any)
		newest = max(newest, observed(condition))
	}
	generation, _ := metadataOf(obj)["generation"].(int64)
	return 0 < newest && newest < generation
}

func observed(content map[string]any) int64 {
	generation, _ := content["observedGeneration"].(int64)
	return generation
}
