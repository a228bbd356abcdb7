package status

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Summary answers one condition of the given type that says what the parts
// come to: False when a part is bad, else Unknown when a part isn't known, else
// True. Bad is False, and True for a Negative part; what is absent or stale
// (see IsStale) isn't known, except that an absent Negative part is good. One
// that nobody has reported yet (Unknown with the reason "Initializing" or
// "NotReported") doesn't keep the others from being good either: bad news is
// what one has to report. Where nothing else is good it isn't known.
//
// Reason and message are those of the first part in the given order that is as
// bad as the whole, its type before the message. When all are good, or there
// are no parts, the reason is "AllGood". Nothing is changed: give the answer to
// Set.
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
			c.Reason, c.Message = "Stale", "it speaks of an older generation"
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

// isUnreported tells whether a condition stands only for that it was declared.
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
