package explore

import (
	"fmt"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/status/readiness"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// untrue is the problem of a status that says what isn't so.
const untrue = "the status isn't true"

// untruth returns the fault of a status, nil without details.
func untruth(obj *unstructured.Unstructured, details []string) []fault {
	if len(details) == 0 {
		return nil
	}
	for i, detail := range details {
		details[i] = nameOf(obj) + " " + detail
	}
	return []fault{{untrue, details}}
}

// truth judges the statuses of the resources at rest. objects are the whole objects, and judged those without what is
// ignored: what is missing there isn't a fault.
func (w *witness) truth(objects, judged []*unstructured.Unstructured) (faults []fault) {
	parts := map[deploy.Ref]*unstructured.Unstructured{}
	for _, obj := range judged {
		parts[deploy.RefOf(obj)] = obj
	}
	for _, obj := range objects {
		part := parts[deploy.RefOf(obj)]
		if part == nil || !w.explores(deploy.RefOf(obj)) || obj.GetDeletionTimestamp() != nil {
			continue
		}
		var details []string
		claims := w.options.claimOf(obj).ready
		if claims {
			details = w.options.unreadyOf(obj, objects)
		}
		for _, r := range append(outdated(obj), incomplete(obj)...) {
			if !w.options.ignoresField(deploy.RefOf(obj), r.field) {
				details = append(details, r.String())
			}
		}
		if claims {
			details = append(details, contradicting(part)...)
		}
		if unready := w.trace.life.unready; unready != "" && claims && len(details) == 0 {
			details = append(details, "is Ready, but "+unready+" isn't")
		}
		faults = append(faults, untruth(obj, details)...)
	}
	return faults
}

// contradicting finds the rest of a status of a Ready resource that says otherwise, as tools understand it that read
// the status of any kind.
func contradicting(obj *unstructured.Unstructured) []string {
	result := readiness.Of(obj)
	if result.State != readiness.InProgress && result.State != readiness.Failed {
		return nil
	}
	return []string{fmt.Sprintf("is Ready, but the whole status reads as %s: %s", result.State, result.Message)}
}
