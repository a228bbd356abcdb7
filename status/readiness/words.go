package readiness

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operkit/operkit/status/internal/condition"
)

// because returns the result with the message of a condition that explains the result better than the condition that
// decided. State and Reason stay. If the condition has no message, the result is unchanged.
func (r Result) because(conditionType string, v view) Result {
	if v.message == "" || v.message == r.Message {
		return r
	}
	r.Message = v.message
	return r.withField(field(conditionType))
}

// with appends words to the message, unless the message contains them already.
func (r Result) with(words, path string) Result {
	if words == "" || strings.Contains(r.Message, words) {
		return r
	}
	r.Message += ": " + words
	return r.withField(path)
}

// withField appends a field. It copies the slice, because results may share it.
func (r Result) withField(path string) Result {
	r.Fields = append(r.Fields[:len(r.Fields):len(r.Fields)], path)
	return r
}

// unmet returns the result of waits for own. If own has no message and other isn't True either, the result has the
// message of other. Otherwise an absent own condition would hide that message.
func (s *subject) unmet(ownType string, own view, reason, message, otherType string, other view) Result {
	result := waits(ownType, own, reason, message)
	if own.message == "" && !other.isTrue() {
		return result.because(otherType, other)
	}
	return result
}

// withReplicaFailure returns the result with the message of a True ReplicaFailure, which has the cause of missing
// replicas.
func (s *subject) withReplicaFailure(result Result) Result {
	if failure := s.condition("ReplicaFailure"); failure.isTrue() {
		return result.because("ReplicaFailure", failure)
	}
	return result
}

// withFault appends the message of the first condition that reports a fault: a False condition, or a True condition
// whose type reports faults (see isFault). It skips the types in but.
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

// isFault reports whether a condition of this type reports a fault when it is True.
func isFault(conditionType string) bool {
	return slices.ContainsFunc([]string{"Error", "Failed", "Failure", "Degraded"}, func(end string) bool {
		return strings.HasSuffix(conditionType, end)
	})
}

// atLeast is a number of the status that must reach another number.
type atLeast struct {
	field  string // of the status
	want   int64
	reason string
	what   string // how a message describes the counted replicas
}

// short returns a result for the first number that is too low. wants is the path of the wanted number.
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

// unobserved returns a result when the controller hasn't observed the object yet.
func (s *subject) unobserved() (Result, bool) {
	if _, stated := s.observedGeneration(); !stated {
		return inProgress("ObservedGenerationMissing", "the controller hasn't observed the object yet", "status.observedGeneration"), true
	}
	return Result{}, false
}

const specReplicas = "spec.replicas"
