package explore

import (
	"encoding/json"
	"errors"

	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/reconciletest/explore/internal/edit"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// accepted returns the edits of a sample that the cluster of a harness accepts, without those that change nothing and
// those that have the same result as an earlier one. The harness hasn't reconciled anything. It has no state of the
// exploration, so a refused edit costs none.
func accepted(h *reconciletest.Harness, sample *unstructured.Unstructured) (possible []edit.Edit) {
	name := nameOf(sample)
	if err := h.TryApply(sample.DeepCopy()); err != nil {
		return nil // it shows when the sample is explored
	}
	complete := h.Get(name)
	if complete == nil || complete.GetAPIVersion() != sample.GetAPIVersion() {
		complete = sample
	}
	seen := map[string]bool{contentOf(h.Get(name)): true}
	for _, by := range edit.Of(complete, definitionsOf(h)) {
		after := sample.DeepCopy()
		by.Do(after)
		if err := change(name, by.Name, after).begin(h); err != nil {
			continue
		}
		if result := contentOf(h.Get(name)); !seen[result] {
			seen[result] = true
			possible = append(possible, by)
		}
		if err := change(name, "undone", sample).begin(h); err != nil { // webhooks refuse to undo it
			if errors.Join(h.TryDelete(name), h.TryApply(sample.DeepCopy())) != nil {
				break
			}
		}
	}
	_ = h.TryDelete(name) // the harness isn't used any more
	return possible
}

// contentOf returns a resource without its metadata, as text.
func contentOf(obj *unstructured.Unstructured) string {
	if obj == nil {
		return ""
	}
	fields := obj.DeepCopy().Object
	delete(fields, "metadata")
	text, err := json.Marshal(fields)
	if err != nil {
		return ""
	}
	return string(text)
}

func definitionsOf(h *reconciletest.Harness) (definitions []*unstructured.Unstructured) {
	for _, obj := range h.Memory().Objects() {
		if obj.GetKind() == "CustomResourceDefinition" {
			definitions = append(definitions, obj)
		}
	}
	return definitions
}
