package readiness

import "fmt"

// atLeast is a number in the status that has to reach another one.
type atLeast struct {
	field  string // of the status
	want   int64
	reason string
	what   string // are what the number counts
}

// short answers for the first number that isn't reached.
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

// surplus answers when more replicas are left than the spec wants.
func (s *subject) surplus(want int64) (Result, bool) {
	if have := s.count("replicas"); have > want {
		return inProgress("ExtraReplicas",
			fmt.Sprintf("%d replicas beyond the wanted %d are still there", have-want, want),
			"status.replicas", specReplicas), true
	}
	return Result{}, false
}

// unobserved answers when the controller hasn't looked at the object at all.
func (s *subject) unobserved() (Result, bool) {
	if _, stated := s.observedGeneration(); !stated {
		return inProgress("ObservedGenerationMissing", "the controller hasn't observed the object yet", "status.observedGeneration"), true
	}
	return Result{}, false
}

const specReplicas = "spec.replicas"
