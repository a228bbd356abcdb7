package status

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operkit/operkit/status/internal/condition"
)

// Merge takes conditions over from another object, such as a child: those of
// the given types, or all when none is given. It tells whether this object
// changed. A condition of a type that is here already is overwritten, with the
// other one's transition time if the status changes; other types are kept. The
// other object's observedGeneration says nothing about this one and isn't
// taken over. A reason that conditions don't allow (foreign ones often have
// none) becomes "Unspecified". other isn't changed.
//
// now dates transitions where the other condition has no time. When a type is
// invalid, or one of the objects holds no conditions, nothing is merged and Err
// tells why.
func (s *ConditionSet) Merge(now time.Time, other *ConditionSet, types ...string) (changed bool) {
	if other == nil {
		s.fail(fmt.Errorf("merge of conditions: %w: there is no other set", ErrUnsupportedObject))
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

// allowedReason is a reason, or another one in place of one that conditions
// don't allow.
func allowedReason(reason string) string {
	if len(reason) > MaxReasonLength || !reasonFits(reason) {
		return reasonUnspecified
	}
	return reason
}

// setAll sets all of the conditions, or none of them when one is refused. An
// Accessor is asked and told once.
func (s *ConditionSet) setAll(now time.Time, list []metav1.Condition) (changed bool) {
	for i := range list {
		c := &list[i]
		if c.Status == "" {
			c.Status = metav1.ConditionUnknown
		}
		if c.LastTransitionTime.IsZero() {
			c.LastTransitionTime.Time = now
		}
		if err := Validate(*c); err != nil {
			s.fail(err)
			return false
		}
		if !condition.Datable(c.LastTransitionTime.Time) {
			s.undated(c.Type)
			return false
		}
	}
	target, isAccessor := s.target.(Accessor)
	switch {
	case isAccessor && !isNil(target):
		return s.setAllThrough(target, now, list)
	case len(list) > few:
		return s.setMany(now, list)
	}
	for i := range list {
		changed = s.Set(now, list[i]) || changed
	}
	return changed
}

func (s *ConditionSet) setAllThrough(target Accessor, now time.Time, list []metav1.Condition) (changed bool) {
	conditions := slices.Clone(target.GetConditions())
	copied := Conditions(&conditions)
	if changed = copied.setAll(now, list); changed {
		target.SetConditions(conditions)
	}
	if copied.err != nil {
		s.fail(copied.err)
	}
	return changed
}
