package readiness

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/operkit/operkit/status/internal/condition"
)

// common makes the checks that come before the rule of any kind. It returns false if none of them decides. Stalled has
// precedence over Reconciling, whichever is listed first.
func common(s *subject) (Result, bool) {
	if deleted := s.metadata["deletionTimestamp"]; deleted != nil && deleted != "" {
		result := terminating(cmp.Or(s.blockers(), "the object is being deleted"), "metadata.deletionTimestamp")
		return result.with(s.waitsForFinalizers(), "metadata.finalizers"), true
	}
	generation, known := s.generation()
	observed, stated := s.observedGeneration()
	if known && stated && generation != observed {
		return inProgress("LatestGenerationNotObserved",
			fmt.Sprintf("generation %d is not observed yet: the status is of generation %d", generation, observed),
			"status.observedGeneration", "metadata.generation"), true
	}
	if stalled := s.condition("Stalled"); stalled.isTrue() {
		result := failed(cmp.Or(stalled.reason, "Stalled"), cmp.Or(stalled.message, "the object is stalled"), field("Stalled"))
		if stalled.message == "" {
			result = s.withFault(result)
		}
		return result, true
	}
	if reconciling := s.condition("Reconciling"); reconciling.isTrue() {
		result := inProgress(cmp.Or(reconciling.reason, "Reconciling"), cmp.Or(reconciling.message, "the object is being reconciled"), field("Reconciling"))
		if isReady := s.condition("Ready"); isReady.isFalse() {
			result = result.with(isReady.message, field("Ready"))
		}
		return result, true
	}
	return Result{}, false
}

// waitsForFinalizers names the finalizers of an object that is being deleted. It returns an empty text if there are
// none.
func (s *subject) waitsForFinalizers() string {
	finalizers, _ := s.metadata["finalizers"].([]any)
	var names []string
	for _, one := range finalizers[:min(len(finalizers), maxMessages)] {
		if name, ok := one.(string); ok {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "it waits for the finalizers " + strings.Join(names, ", ")
}

// maxMessages is the maximum number of finalizers, or of messages of conditions, that one message lists.
const maxMessages = 5

// blockers describes what blocks the deletion of a Namespace. It returns an empty text for other kinds.
func (s *subject) blockers() string {
	if s.group != "" || s.kind != "Namespace" {
		return ""
	}
	var messages []string
	asked := map[string]bool{}
	for _, element := range s.conditions {
		entry, _ := element.(map[string]any)
		conditionType := condition.Text(entry, condition.Type)
		blocks := strings.HasPrefix(conditionType, "NamespaceDeletion") || strings.HasPrefix(conditionType, "NamespaceContent")
		if !blocks || asked[conditionType] {
			continue
		}
		asked[conditionType] = true
		if v := s.condition(conditionType); v.isTrue() && v.message != "" {
			messages = append(messages, v.message)
		}
		if len(asked) == maxMessages { // Kubernetes has no more such types
			break
		}
	}
	return strings.Join(messages, "; ")
}
