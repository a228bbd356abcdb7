package status

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operkit/operkit/status/internal/condition"
)

// Set puts a condition into the object and tells whether the object changed.
// The object is mutated, nothing else is; a second identical Set changes
// nothing, and allocates nothing in documents, lists and accessors.
//
// lastTransitionTime becomes now (or c.LastTransitionTime, when given and not
// that of the present entry, as Get answered it), in UTC
// and whole seconds, if the condition is new or its status changed, and stays
// what it was otherwise. Several entries of the type become one, at the place
// of the first, on the base of the newest. A new type goes to the end. A
// missing time of a transition is filled in, as if it were of now. A
// message that is too long is shortened and says so. An observedGeneration of
// 0 takes a present one away, since it would claim what isn't known.
//
// An invalid condition (see Validate) isn't written; Set then answers false
// and Err tells why. So is one without a reason: a word made up here would tell
// its readers nothing, and once it is stored nobody sees that one was forgotten. A zero now together with a zero c.LastTransitionTime is
// refused likewise, with ErrNoTime, and so is a time that RFC 3339 can't write
// (before the year 1 or after 9999).
//
// spec: status 28
func (s *ConditionSet) Set(now time.Time, c metav1.Condition) (changed bool) {
	if !valid(&c) {
		s.fail(validateContent(&c))
		return false
	}
	if c.LastTransitionTime.IsZero() || s.isOfTheLast(&c) && condition.Datable(now) {
		c.LastTransitionTime.Time = now
	}
	if !condition.Datable(c.LastTransitionTime.Time) {
		s.undated(c.Type)
		return false
	}
	if !fits(c.Message, MaxMessageLength) {
		c.Message = clip(c.Message, MaxMessageLength)
	}
	var err error
	if list, ok := s.target.(*[]metav1.Condition); ok && list != nil {
		changed, err = setList(list, &c)
	} else {
		changed, err = s.put(&c)
	}
	if err != nil {
		s.fail(err)
	}
	return changed
}

// FromBool is the status for what is known to be so or not: True or False. It is
// for Set and Visit.Report, where the work at hand answers a bool. Of a Negative
// type true is bad news.
func FromBool(holds bool) metav1.ConditionStatus {
	if holds {
		return metav1.ConditionTrue
	}
	return metav1.ConditionFalse
}

// isOfTheLast tells whether a condition whose status is to change comes with the
// time of the transition before: it was read by Get and changed then.
func (s *ConditionSet) isOfTheLast(c *metav1.Condition) bool {
	present, ok := s.Get(c.Type)
	return ok && isOfTheLast(&present, c)
}

func isOfTheLast(present, c *metav1.Condition) bool {
	return !sameStatus(present.Status, c.Status) && present.LastTransitionTime.Equal(&c.LastTransitionTime)
}

func (s *ConditionSet) undated(conditionType string) {
	s.fail(fmt.Errorf("condition %q: %w for its transition", conditionType, ErrNoTime))
}

// put sets a condition whose content is valid and whose time is the one that a
// transition would get.
func (s *ConditionSet) put(c *metav1.Condition) (changed bool, err error) {
	switch target := s.target.(type) {
	case *unstructured.Unstructured:
		if target != nil {
			return setUnstructured(target, c)
		}
	case map[string]any:
		if target != nil {
			return setDocument(target, c)
		}
	case Accessor:
		if !isNil(target) {
			return setAccessor(target, c)
		}
	default:
		if held, ok := structOf(target); ok {
			return held.set([]metav1.Condition{*c})
		}
	}
	s.unsupported()
	return false, nil
}

// wholeSeconds is the form in which transitions are dated.
func wholeSeconds(at time.Time) time.Time {
	if at.Nanosecond() == 0 && at.Location() == time.UTC {
		return at
	}
	return time.Unix(at.Unix(), 0).UTC()
}

func setUnstructured(object *unstructured.Unstructured, c *metav1.Condition) (bool, error) {
	if object.Object != nil {
		return setDocument(object.Object, c)
	}
	document := map[string]any{}
	changed, err := setDocument(document, c)
	if changed {
		object.Object = document
	}
	return changed, err
}

func setDocument(object map[string]any, c *metav1.Condition) (bool, error) {
	status, _ := object["status"].(map[string]any)
	list := condition.ListOf(status)
	if list == nil && condition.Foreign(status) {
		return false, foreignList(status)
	}
	index, count := condition.Newest(list, c.Type)
	if index < 0 {
		if err := validateType(c.Type); err != nil {
			return false, err
		}
		list = append(slices.Clip(mapsOf(list)), toDocument(map[string]any{}, c))
	} else {
		entry := list[index].(map[string]any)
		if count == 1 && holds(entry, c) {
			return false, nil
		}
		toDocument(entry, c)
		list = mapsOf(list)
		if count > 1 {
			list = merged(list, entry, c.Type)
		}
	}
	if status == nil {
		status = map[string]any{}
		object["status"] = status
	}
	status["conditions"] = list
	return true, nil
}

// foreignList is the error of conditions that a write would lose.
func foreignList(status map[string]any) error {
	return fmt.Errorf("status.conditions as a %T in a map: %w: use a []any of map[string]any, or []metav1.Condition", status[conditionsKey], ErrUnsupportedObject)
}

// holds tells whether an entry already says what a condition says, apart from
// the time of its transition; but one without a readable time has to get one.
func holds(entry map[string]any, c *metav1.Condition) bool {
	generation, _ := condition.Integer(entry[condition.ObservedGeneration])
	_, dated := condition.Transition(entry)
	return dated && condition.Text(entry, condition.Status) == string(c.Status) &&
		condition.Text(entry, condition.Reason) == c.Reason &&
		condition.Text(entry, condition.Message) == c.Message &&
		generation == c.ObservedGeneration
}

// toDocument writes a condition over an entry and answers the entry. Its
// unknown fields stay, and the time of the last transition does when the
// status is the same and the time is readable.
func toDocument(entry map[string]any, c *metav1.Condition) map[string]any {
	transition := wholeSeconds(c.LastTransitionTime.Time)
	if condition.StatusOf(entry) == c.Status {
		if at, ok := condition.Transition(entry); ok {
			transition = at
		}
	}
	entry[condition.Type] = c.Type
	entry[condition.Status] = string(c.Status)
	entry[condition.Reason] = c.Reason
	entry[condition.Message] = c.Message
	entry[condition.LastTransitionTime] = transition.UTC().Format(time.RFC3339)
	delete(entry, condition.LastTransactionTime)
	setInteger(entry, condition.ObservedGeneration, c.ObservedGeneration)
	return entry
}

// setInteger writes a number, 0 as absent. An equal one stays as it is, also
// when it is of another type: a decoder that makes float64 of every number
// would otherwise see a change with every write.
func setInteger(document map[string]any, key string, value int64) {
	if value == 0 {
		delete(document, key)
		return
	}
	if present, ok := condition.Integer(document[key]); !ok || present != value {
		document[key] = value
	}
}

// mapsOf answers the elements that are maps, the list itself when all are.
func mapsOf(list []any) []any {
	noMap := func(element any) bool { _, ok := element.(map[string]any); return !ok }
	if !slices.ContainsFunc(list, noMap) {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), noMap)
}

// merged puts an entry in the place of the first of its type and leaves the
// others of the type out.
func merged(list []any, entry map[string]any, conditionType string) []any {
	result := make([]any, 0, len(list)-1)
	placed := false
	for _, element := range list {
		if condition.Text(element.(map[string]any), condition.Type) != conditionType {
			result = append(result, element)
		} else if !placed {
			result, placed = append(result, any(entry)), true
		}
	}
	return result
}
