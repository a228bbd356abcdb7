package readiness

import (
	"cmp"
	"encoding/json"
	"fmt"
)

// budget is the row policy/PodDisruptionBudget.
func budget(s subject) Result {
	allowed := s.condition("DisruptionAllowed")
	if allowed.isFalse() && allowed.reason == "SyncFailed" {
		return failed(allowed.reason, cmp.Or(allowed.message, "the budget can't be computed"), field("DisruptionAllowed"))
	}
	if result, done := s.unobserved(); done {
		return result
	}
	healthy, wanted := s.count("currentHealthy"), s.count("desiredHealthy")
	if s.checker.BudgetNeedsHealthy && healthy < wanted {
		result := inProgress("LessHealthy", fmt.Sprintf("%d of %d Pods are healthy", healthy, wanted), "status.currentHealthy", "status.desiredHealthy")
		if allowed.isFalse() {
			result = result.with(allowed.message, field("DisruptionAllowed"))
		}
		return result
	}
	return ready("BudgetObserved", "the budget is computed", "status.observedGeneration")
}

// autoscaler is the row autoscaling/HorizontalPodAutoscaler. Missing metrics, or a target that doesn't exist yet,
// aren't failures.
func autoscaler(s subject) Result {
	if s.conditions == nil {
		s.conditions = annotatedConditions(&s)
	}
	able, active := s.condition("AbleToScale"), s.condition("ScalingActive")
	if active.isFalse() && active.reason == "InvalidSelector" {
		return failed(active.reason, cmp.Or(active.message, "the selector of the target is invalid"), field("ScalingActive"))
	}
	if !able.holds() {
		return s.unmet("AbleToScale", able, "NotAbleToScale", "the condition AbleToScale is not True", "ScalingActive", active)
	}
	disabled := active.isFalse() && active.reason == "ScalingDisabled"
	if !active.holds() && !disabled {
		return waits("ScalingActive", active, "ScalingNotActive", "the condition ScalingActive is not True")
	}
	if disabled {
		return remark(active.reason, cmp.Or(active.message, "the autoscaler is switched off"), field("ScalingActive"), field("AbleToScale"))
	}
	return ready(cmp.Or(active.reason, "ScalingActive"), cmp.Or(active.message, "the autoscaler works"), field("ScalingActive"), field("AbleToScale"))
}

// annotatedConditions returns the conditions of autoscaling/v1, whose status has no field for them. The API server
// keeps them in an annotation.
func annotatedConditions(s *subject) []any {
	var conditions []any
	if json.Unmarshal([]byte(s.annotation("autoscaling.alpha.kubernetes.io/conditions")), &conditions) != nil {
		return nil
	}
	return conditions
}
