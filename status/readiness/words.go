package readiness

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operkit/operkit/status/internal/condition"
)

// because returns the result in the words of a condition that explains it better than what it was decided by. State and
// reason stay; so does all of it when the condition has no words.
func (r Result) because(conditionType string, v view) Result {
	if v.message == "" || v.message == r.Message {
		return r
	}
	r.Message = v.message
	return r.withField(field(conditionType))
}

// with returns the result with words beside its message, unless it has them already.
func (r Result) with(words, path string) Result {
	if words == "" || strings.Contains(r.Message, words) {
		return r
	}
	r.Message += ": " + words
	return r.withField(path)
}

// withField copies the fields, since those of a result may be shared.
func (r Result) withField(path string) Result {
	r.Fields = append(r.Fields[:len(r.Fields):len(r.Fields)], path)
	return r
}

// unmet returns what waits does for own, in the words of another condition that isn't True either when own has none: an
// absent condition must not hide what the present one says.
func (s *subject) unmet(ownType string, own view, reason, message, otherType string, other view) Result {
	result := waits(ownType, own, reason, message)
	if own.message == "" && !other.isTrue() {
		return result.because(otherType, other)
	}
	return result
}

// withReplicaFailure returns the result of a count that is too low, with the message of ReplicaFailure, which has the
// cause.
func (s *subject) withReplicaFailure(result Result) Result {
	if failure := s.condition("ReplicaFailure"); failure.isTrue() {
		return result.because("ReplicaFailure", failure)
	}
	return result
}

// withFault returns the result with the message of the first condition that names a fault: one that is False, or True
// with a type that ends as those of faults do.
func (s *subject) withFault(result Result, but ...string) Result {
	for _, element := range s.conditions {
		entry, _ := element.(map[string]any)
		conditionType := condition.Text(entry, condition.Type)
		if conditionType == "" || slices.Contains(but, conditionType) {
			continue
		}
		v := s.condition(conditionType)
		if v.message != "" && (v.isFalse() || v.isTrue() && isFault(conditionType)) {
			return result.with(v.message, field(conditionType))
		}
	}
	return result
}

// isFault reports whether a condition of the type is a fault when it is True.
func isFault(conditionType string) bool {
	for _, end := range [...]string{"Error", "Failed", "Failure", "Degraded"} {
		if strings.HasSuffix(conditionType, end) {
			return true
		}
	}
	return false
}

// atLeast is a number in the status that has to reach another one.
type atLeast struct {
	field  string // of the status
	want   int64
	reason string
	what   string // are what the number counts
}

// short returns for the first number that isn't reached.
func (s *subject) short(wants string, checks []atLeast) (Result, bool) {
	for i := range checks {
		check := &checks[i]
		if have := s.count(check.field); have < check.want {
			return inProgress(check.reason,
				fmt.Sprintf("%d of %d replicas are %s", have, check.want, check.what),
				"status."+check.field, wants), true
		}
	}
	return Result{}, false
}

// surplus returns a result when more replicas are left than the spec wants.
func (s *subject) surplus(want int64) (Result, bool) {
	if have := s.count("replicas"); have > want {
		return inProgress("ExtraReplicas",
			fmt.Sprintf("%d replicas beyond the wanted %d are still there", have-want, want),
			"status.replicas", specReplicas), true
	}
	return Result{}, false
}

// unobserved returns a result when the controller hasn't looked at the object at all.
func (s *subject) unobserved() (Result, bool) {
	if _, stated := s.observedGeneration(); !stated {
		return inProgress("ObservedGenerationMissing", "the controller hasn't observed the object yet", "status.observedGeneration"), true
	}
	return Result{}, false
}

const specReplicas = "spec.replicas"
