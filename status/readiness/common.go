package readiness

import (
	"fmt"
	"strings"

	"github.com/operkit/operkit/status/internal/condition"
)

// common makes the checks that come before the rule of any kind; false when
// none of them decides. Stalled wins over Reconciling, whichever is listed
// first.
//
// spec: status 24
func common(s *subject) (Result, bool) {
	if deleted := s.metadata["deletionTimestamp"]; deleted != nil && deleted != "" {
		return terminating(says(s.blockers(), "the object is being deleted"), "metadata.deletionTimestamp"), true
	}
	generation, known := s.generation()
	observed, stated := s.observedGeneration()
	if known && stated && generation != observed {
		return inProgress("LatestGenerationNotObserved",
			fmt.Sprintf("generation %d is not observed yet, the status is of %d", generation, observed),
			"status.observedGeneration", "metadata.generation"), true
	}
	if stalled := s.condition("Stalled"); stalled.isTrue() {
		return failed(says(stalled.reason, "Stalled"), says(stalled.message, "the object is stalled"), field("Stalled")), true
	}
	if reconciling := s.condition("Reconciling"); reconciling.isTrue() {
		return inProgress(says(reconciling.reason, "Reconciling"), says(reconciling.message, "the object is being reconciled"), field("Reconciling")), true
	}
	return Result{}, false
}

// maxMessages is how many reasons a message gives.
const maxMessages = 5

// blockers answers what keeps a Namespace from going away.
func (s *subject) blockers() string {
	if s.group != "" || s.kind != "Namespace" {
		return ""
	}
	var messages []string
	asked := map[string]bool{}
	for _, element := range s.conditions {
		entry, _ := element.(map[string]any)
		conditionType := condition.Text(entry, condition.Type)
		told := strings.HasPrefix(conditionType, "NamespaceDeletion") || strings.HasPrefix(conditionType, "NamespaceContent")
		if !told || asked[conditionType] {
			continue
		}
		asked[conditionType] = true
		if v := s.condition(conditionType); v.isTrue() && v.message != "" {
			messages = append(messages, v.message)
		}
		if len(asked) == maxMessages { // those that Kubernetes has
			break
		}
	}
	return strings.Join(messages, "; ")
}
