package readiness

import (
	"cmp"

	"github.com/operkit/operkit/status/internal/condition"
)

// generic decides for kinds without a row, by the conditions that many kinds set. An object without any of them is
// ready as soon as it exists. An object whose status has the versions of an application must be at the version of its
// own spec.
func generic(s subject, setsReady bool) Result {
	// Stalled and Reconciling have been looked at before.
	if v := s.condition("Failed"); v.isTrue() {
		return failed(cmp.Or(v.reason, "Failed"), cmp.Or(v.message, "the object has failed"), field("Failed"))
	}
	isReady, available := s.condition("Ready"), s.condition("Available")
	if v := s.condition("Progressing"); v.isTrue() && !isReady.isTrue() && !available.isTrue() {
		result := inProgress(cmp.Or(v.reason, "Progressing"), cmp.Or(v.message, "the object is progressing"), field("Progressing"))
		return s.withFault(result)
	}
	if !isReady.present && setsReady {
		return inProgress("ReadyMissing", "the condition Ready isn't set yet", field("Ready"))
	}
	for _, conditionType := range [...]string{"Ready", "Available", "Succeeded"} {
		if v := s.condition(conditionType); v.present {
			return s.decided(conditionType, v)
		}
	}
	return present()
}

// decided is decide, with other conditions and the versions of the object looked at too.
func (s *subject) decided(conditionType string, v view) Result {
	result := decide(conditionType, v)
	if !result.Ready() {
		if v.message == "" {
			result = s.withFault(result, conditionType)
		}
		return result
	}
	if versions := condition.Map(s.status, "versions"); versions["reconciled"] != nil || versions["available"] != nil {
		if lagging, done := s.upgrading(condition.Text(s.spec, "version")); done {
			return lagging
		}
	}
	return result
}

func decide(conditionType string, v view) Result {
	if v.holds() {
		return ready(cmp.Or(v.reason, conditionType), cmp.Or(v.message, "the condition "+conditionType+" is True"), field(conditionType))
	}
	return waits(conditionType, v, "Not"+conditionType, "the condition "+conditionType+" is not True")
}
