package status

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Merge copies conditions from another object, such as a child, and reports whether this object changed. It copies the
// given types, or all types if none is given. It overwrites a condition that this object has too. If the status of that
// condition changes, it gets the transition time of the copied condition. Conditions of other types are kept.
// observedGeneration isn't copied, because it belongs to the other object. An invalid or missing reason becomes
// "Unspecified". other isn't changed.
//
// If the copied condition has no time, now is used as the transition time. If a type is invalid, or one of the objects
// can't hold conditions, nothing is merged and Err returns the error.
func (s *ConditionSet) Merge(now time.Time, other *ConditionSet, types ...string) (changed bool) {
	if other == nil {
		s.fail(fmt.Errorf("merge of conditions: %w: the other set is nil", ErrUnsupportedObject))
		return false
	}
	list := other.List()
	if other.err != nil {
		s.fail(other.err)
		return false
	}
	if len(types) > 0 {
		list = slices.DeleteFunc(list, func(c metav1.Condition) bool { return !slices.Contains(types, c.Type) })
	}
	for i := range list {
		c := &list[i]
		c.ObservedGeneration = 0
		c.Reason = allowedReason(c.Reason)
	}
	return s.setAll(now, list)
}

const reasonUnspecified = "Unspecified"

// allowedReason returns reason, or Unspecified if conditions don't allow it.
func allowedReason(reason string) string {
	if len(reason) > maxReasonLength || !reasonFits(reason) {
		return reasonUnspecified
	}
	return reason
}

// Summary returns one condition of the given type that summarises the parts: False when a part is bad, else Unknown
// when a part isn't known, else True. A part is bad if its status is False; a Negative part is bad if its status is
// True. An absent or stale part (see IsStale) isn't known, but an absent Negative part is ignored. A Negative part that
// nobody has reported yet (Unknown with the reason "Initializing" or "NotReported") makes the result Unknown only if no
// other part is good or bad.
//
// The reason and the message come from the first part, in the given order, that decided the status; the message begins
// with the type of that part. If all parts are good, or there are no parts, the reason is "AllGood". Summary changes
// nothing: pass its result to Set.
func (s *ConditionSet) Summary(conditionType string, parts ...Declared) metav1.Condition {
	return s.summary(conditionType, parts, func(c metav1.Condition) bool { return isStale(c, s.generation()) })
}

func (s *ConditionSet) summary(conditionType string, parts []Declared, stale func(metav1.Condition) bool) metav1.Condition {
	var unknown, bad, unreported *metav1.Condition
	anyGood := false
	held := s.byType()
	for _, part := range parts {
		c, present := held[part.Type]
		switch {
		case !present && part.Negative:
			continue
		case !present:
			c = metav1.Condition{Type: part.Type, Status: metav1.ConditionUnknown, Reason: "Missing", Message: "there is no such condition"}
		case part.Negative && isUnreported(c):
			if unreported == nil {
				unreported = &c
			}
			continue
		case stale(c):
			c.Status = metav1.ConditionUnknown
			c.Reason, c.Message = "Stale", "the condition describes an older generation"
		}
		switch {
		case c.Status == part.good():
			anyGood = true
		case c.Status == part.bad() && bad == nil:
			bad = &c
		case c.Status != part.bad() && unknown == nil:
			unknown = &c
		}
	}
	if unknown == nil && !anyGood {
		unknown = unreported
	}
	switch {
	case bad != nil:
		return summarised(conditionType, metav1.ConditionFalse, bad)
	case unknown != nil:
		return summarised(conditionType, metav1.ConditionUnknown, unknown)
	}
	return metav1.Condition{Type: conditionType, Status: metav1.ConditionTrue, Reason: "AllGood"}
}

// isUnreported reports whether a condition is Unknown because nobody has reported it.
func isUnreported(c metav1.Condition) bool {
	return c.Status == metav1.ConditionUnknown && (c.Reason == string(ReadyInitializing) || c.Reason == reasonNotReported)
}

func summarised(conditionType string, status metav1.ConditionStatus, part *metav1.Condition) metav1.Condition {
	c := metav1.Condition{Type: conditionType, Status: status, Reason: part.Reason, Message: part.Type}
	c.Reason = allowedReason(c.Reason)
	if part.Message != "" {
		c.Message = part.Type + ": " + part.Message
	}
	return c
}
