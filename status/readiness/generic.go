package readiness

import (
	"cmp"

	"github.com/operkit/operkit/status/internal/condition"
)

// generic decides for kinds without a row, by the conditions that many kinds set. An object without any of these
// conditions is Ready, unless setsReady is true. If the status has the versions of a status.Application, the reconciled
// version must be the version in the spec.
func generic(s subject, setsReady bool) Result {
	// common has checked Stalled and Reconciling already.
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

// decided calls decide. If the object is ready, decided also checks its versions. If the object isn't ready and the
// condition has no message, decided appends the message of a condition that reports a fault.
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
