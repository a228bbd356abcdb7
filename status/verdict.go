package status

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operkit/operkit/status/internal/condition"
)

// ReadyVerdict is what is to be said by the Ready condition. The zero value
// keeps the present condition.
//
// Without a Reason the present reason stays. Without a Message the present one
// stays if its reason does, and goes with it otherwise. Remove takes the
// condition away, whatever else is given.
//
// spec: status 8
type ReadyVerdict struct {
	Reason  ReadyReason
	Message string
	Remove  bool
}

// UpdatingVerdict is what is to be said by the Updating condition, with the
// meanings of ReadyVerdict.
type UpdatingVerdict struct {
	// Reason, Message and Remove are as in ReadyVerdict.
	Reason  UpdatingReason
	Message string
	Remove  bool
}

// verdict is either of the two, with what is particular to its condition.
type verdict struct {
	conditionType   string
	reason, message string
	remove          bool
	statusOf        func(reason string) metav1.ConditionStatus
}

func (v ReadyVerdict) verdict() verdict {
	return verdict{ConditionReady, string(v.Reason), v.Message, v.Remove, readyStatus}
}

func (v UpdatingVerdict) verdict() verdict {
	return verdict{ConditionUpdating, string(v.Reason), v.Message, v.Remove, updatingStatus}
}

// given tells whether the verdict says anything.
func (v verdict) given() bool {
	return v.reason != "" || v.message != "" || v.remove
}

func (v verdict) validate() error {
	if v.reason != "" && v.statusOf(v.reason) == metav1.ConditionUnknown {
		return fmt.Errorf("%s verdict: %w: %.64q is none of its reasons", v.conditionType, ErrInvalidReason, v.reason)
	}
	return nil
}

// settle answers the condition that comes of a verdict over the present entry,
// false when there is none. A carried-over condition keeps the generation it
// was observed at. A present reason that isn't known counts as absent.
func (v verdict) settle(entry map[string]any, generation int64, warn func(string, ...any)) (metav1.Condition, bool) {
	c := metav1.Condition{Type: v.conditionType, Reason: v.reason, Message: v.message}
	present := condition.Text(entry, condition.Reason)
	if c.Reason == "" && !v.remove && present != "" && v.statusOf(present) == metav1.ConditionUnknown {
		warn("condition %s: its present reason %.64q isn't known, it counts as absent", v.conditionType, present)
	} else if c.Reason == "" {
		c.Reason = present
	}
	if v.remove || c.Reason == "" {
		return metav1.Condition{}, false
	}
	if c.Message == "" && c.Reason == present {
		c.Message = condition.Text(entry, condition.Message)
	}
	c.Status = v.statusOf(c.Reason)
	c.ObservedGeneration = generation
	if generation == 0 || !v.given() {
		c.ObservedGeneration, _ = condition.Integer(entry[condition.ObservedGeneration])
	}
	return c, true
}
