package status

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operkit/operkit/status/internal/condition"
)

// Set puts a condition into the object and reports whether the object changed. A second identical Set changes nothing.
// In documents, lists and accessors, it also allocates nothing.
//
// If the condition is new or its status changed, lastTransitionTime becomes now, in UTC and whole seconds.
// c.LastTransitionTime is used instead of now if it is set and differs from the time of the present entry, which Get
// returns. If the status didn't change, lastTransitionTime stays; a missing time is set as for a new condition. Several
// entries of the type become one, at the place of the first, with the unknown fields of the newest. A new type is
// appended. A message that is too long is shortened, with a mark at its end. An observedGeneration of 0 removes the
// present one, which may be outdated. If the type of the elements has a field lastUpdateTime, or the present entry of a
// document has it, it becomes the time of the change.
//
// An invalid condition (see Validate) isn't written; a condition without a reason is invalid too. A condition without a
// usable time isn't written either (ErrNoTime): both now and c.LastTransitionTime are zero, or the time can't be
// written in RFC 3339 (before the year 1 or after 9999). In both cases Set returns false, and Err returns the error.
func (s *ConditionSet) Set(now time.Time, c metav1.Condition) (changed bool) {
	if err := validateContent(&c); err != nil {
		s.fail(err)
		return false
	}
	list, ok := s.target.(*[]metav1.Condition)
	if !ok || list == nil {
		return s.setIn(now, &c)
	}
	index := firstOf(*list, c.Type)
	if index < 0 || firstOf((*list)[index+1:], c.Type) >= 0 {
		return s.setIn(now, &c)
	}
	present := &(*list)[index]
	if !s.prepare(now, &c, present, true) || equal(present, &c) {
		return false
	}
	overwrite(present, &c)
	return true
}

// setIn is Set for a valid condition in any form of object.
func (s *ConditionSet) setIn(now time.Time, c *metav1.Condition) (changed bool) {
	present, _, count := s.find(c.Type)
	if !s.prepare(now, c, &present, count > 0) || count == 1 && equal(&present, c) {
		return false
	}
	return s.put(now, []metav1.Condition{*c})
}

// FromBool returns True or False, for callers of Set and Visit.Report that have a bool. For a Negative type, True is
// bad.
func FromBool(holds bool) metav1.ConditionStatus {
	if holds {
		return metav1.ConditionTrue
	}
	return metav1.ConditionFalse
}

// prepare sets the transition time of a valid condition, shortens its message, and reports whether it can be written. A
// caller may get a condition, change its status and set it: the condition has the time of the previous transition then,
// which prepare replaces with now.
func (s *ConditionSet) prepare(now time.Time, c, present *metav1.Condition, exists bool) bool {
	if c.LastTransitionTime.IsZero() || exists && condition.Datable(now) &&
		!sameStatus(present.Status, c.Status) && present.LastTransitionTime.Equal(&c.LastTransitionTime) {
		c.LastTransitionTime.Time = now
	}
	if !condition.Datable(c.LastTransitionTime.Time) {
		s.fail(fmt.Errorf("condition %q: %w for its transition", c.Type, ErrNoTime))
		return false
	}
	if !fits(c.Message, maxMessageLength) {
		c.Message = clip(c.Message, maxMessageLength)
	}
	return true
}

// setAll sets all conditions, or none if one is invalid. An Accessor is read and written once.
func (s *ConditionSet) setAll(now time.Time, list []metav1.Condition) (changed bool) {
	for i := range list {
		c := &list[i]
		if c.Status == "" {
			c.Status = metav1.ConditionUnknown
		}
		if err := Validate(*c); err != nil {
			s.fail(err)
			return false
		}
		if !s.prepare(now, c, c, false) {
			return false
		}
	}
	return len(list) > 0 && s.put(now, list)
}

// place describes one element of a list to write. from is the index of a present element, or -1 for a new one. The
// condition over is written over the element at the time at, unless it is nil.
type place struct {
	from int
	over *metav1.Condition
	at   time.Time
}

// put writes valid conditions of different types in one pass. Each is written over the newest entry of its type, at the
// place of the first entry. New types are appended. put may clear parts of given that the object has no field for.
func (s *ConditionSet) put(now time.Time, given []metav1.Condition) (changed bool) {
	if target, ok := s.target.(Accessor); ok && !isNil(target) {
		return s.through(target, func(list *ConditionSet) bool { return list.put(now, given) })
	}
	if !s.writable() {
		return false
	}
	typed, _ := structOf(s.target)
	if err := cmp.Or(typed.unwritable(), foreignList(s.document())); err != nil {
		s.fail(err)
		return false
	}
	present := s.all()
	find := finder(present)
	changes := make(map[string]*place, len(given))
	for i := range given {
		index, count := find(given[i].Type)
		next := metav1.Condition{Type: given[i].Type}
		if index >= 0 {
			next = present[index]
		} else if err := validateType(next.Type); err != nil {
			s.fail(err)
			return false
		}
		typed.restrict(&given[i], &next)
		if !s.prepare(now, &given[i], &next, index >= 0) {
			return false
		}
		if count != 1 || !equal(&next, &given[i]) {
			overwrite(&next, &given[i])
			changes[next.Type] = &place{index, &next, updated(now, &given[i])}
		}
	}
	return len(changes) > 0 && s.rewrite(placesOf(present, given, changes))
}

// updated returns the time of a change.
func updated(now time.Time, c *metav1.Condition) time.Time {
	if condition.Datable(now) {
		return wholeSeconds(now)
	}
	return wholeSeconds(c.LastTransitionTime.Time)
}

// placesOf returns the places of the present conditions, with each change at the first entry of its type. New types
// follow, in the order in which they are given.
func placesOf(present, given []metav1.Condition, changes map[string]*place) []place {
	places := make([]place, 0, len(present)+len(given))
	placed := make(map[string]bool, len(changes))
	add := func(conditionType string, otherwise ...place) {
		next, isChange := changes[conditionType]
		switch {
		case !isChange:
			places = append(places, otherwise...)
		case !placed[conditionType]:
			places, placed[conditionType] = append(places, *next), true
		}
	}
	for i := range present {
		add(present[i].Type, place{from: i})
	}
	for i := range given {
		add(given[i].Type)
	}
	return places
}

// finder returns a function that does what newestOf does for one list. It has an index, for many look-ups.
func finder(list []metav1.Condition) func(conditionType string) (index, count int) {
	type found struct{ index, count int }
	all := make(map[string]found, len(list))
	for i := range list {
		known, twice := all[list[i].Type]
		if !twice || orEpoch(list[i].LastTransitionTime).After(orEpoch(list[known.index].LastTransitionTime)) {
			known.index = i
		}
		all[list[i].Type] = found{known.index, known.count + 1}
	}
	return func(conditionType string) (int, int) {
		if known, ok := all[conditionType]; ok {
			return known.index, known.count
		}
		return -1, 0
	}
}

// Remove removes every entry of a type from the object and reports whether there was one. Conditions of other types
// stay. A list without entries stays as an empty list.
func (s *ConditionSet) Remove(conditionType string) (removed bool) {
	if target, ok := s.target.(Accessor); ok && !isNil(target) {
		return s.through(target, func(list *ConditionSet) bool { return list.Remove(conditionType) })
	}
	if !s.writable() {
		return false
	}
	present := s.all()
	rest := make([]place, 0, len(present))
	for i := range present {
		if present[i].Type != conditionType || conditionType == "" {
			rest = append(rest, place{from: i})
		}
	}
	return len(rest) < len(present) && s.rewrite(rest)
}

// through changes the conditions of an Accessor in a copy of their list, because the object may be a shallow copy that
// shares the list with its original.
func (s *ConditionSet) through(target Accessor, change func(list *ConditionSet) bool) (changed bool) {
	conditions := slices.Clone(target.GetConditions())
	list := Conditions(&conditions)
	if changed = change(list); changed {
		target.SetConditions(conditions)
	}
	if list.err != nil {
		s.fail(list.err)
	}
	return changed
}

// writable reports whether the object has a form whose conditions can be written. If it has no such form, writable
// records the error.
func (s *ConditionSet) writable() bool {
	switch target := s.target.(type) {
	case *unstructured.Unstructured, map[string]any, *[]metav1.Condition:
		if !isNil(target) {
			return true
		}
	default:
		if _, ok := structOf(target); ok {
			return true
		}
	}
	s.unsupported()
	return false
}

// rewrite replaces the conditions of the object with a new list of the elements that places describes.
func (s *ConditionSet) rewrite(places []place) bool {
	switch target := s.target.(type) {
	case *unstructured.Unstructured:
		if target.Object == nil {
			target.Object = map[string]any{}
		}
		s.rewriteDocument(target.Object, places)
	case map[string]any:
		s.rewriteDocument(target, places)
	case *[]metav1.Condition:
		list := make([]metav1.Condition, len(places))
		for to, p := range places {
			if p.over != nil {
				list[to] = *p.over
			} else {
				list[to] = (*target)[p.from]
			}
		}
		*target = list
	default:
		held, _ := structOf(target)
		if err := held.rewrite(places); err != nil {
			s.fail(err)
			return false
		}
	}
	return true
}

func (s *ConditionSet) rewriteDocument(object map[string]any, places []place) {
	present := mapsOf(condition.List(object))
	list := make([]any, len(places))
	for to, p := range places {
		entry := map[string]any{}
		if p.from >= 0 {
			entry = present[p.from].(map[string]any)
		}
		if p.over != nil {
			toDocument(entry, p.over)
			if _, has := entry[condition.LastUpdateTime]; has || s.dated[p.over.Type] {
				entry[condition.LastUpdateTime] = p.at.Format(time.RFC3339)
			}
		}
		list[to] = entry
	}
	status := condition.Map(object, "status")
	if status == nil {
		status = map[string]any{}
		object["status"] = status
	}
	status[conditionsKey] = list
}

// foreignList returns an error if the conditions of a document are a list of a Go type that can't be read: a write
// would lose them.
func foreignList(object map[string]any) error {
	status := condition.Map(object, "status")
	if !condition.Foreign(status) {
		return nil
	}
	return fmt.Errorf("status.conditions as a %T in a map: %w: use a []any of map[string]any, or []metav1.Condition", status[conditionsKey], ErrUnsupportedObject)
}

// wholeSeconds returns a time in the form of transition times: UTC, in whole seconds.
func wholeSeconds(at time.Time) time.Time {
	if at.Nanosecond() == 0 && at.Location() == time.UTC {
		return at
	}
	return time.Unix(at.Unix(), 0).UTC()
}

// toDocument writes a condition over an entry and returns the entry. Unknown fields of the entry stay. Its transition
// time stays if the status is the same and the time can be read.
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

// setInteger writes a number, or removes the key if the number is 0. An equal number of another type stays as it is.
// Otherwise every write would be a change for a decoder that decodes all numbers to float64.
func setInteger(document map[string]any, key string, value int64) {
	if value == 0 {
		delete(document, key)
		return
	}
	if present, ok := condition.Integer(document[key]); !ok || present != value {
		document[key] = value
	}
}

// mapsOf returns the elements that are maps. It returns the list itself if all are.
func mapsOf(list []any) []any {
	noMap := func(element any) bool { _, ok := element.(map[string]any); return !ok }
	if !slices.ContainsFunc(list, noMap) {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), noMap)
}

// overwrite writes c over an entry of its type. The transition time stays if the status is the same and there is a
// time.
func overwrite(present, c *metav1.Condition) {
	if present.LastTransitionTime.IsZero() || !sameStatus(present.Status, c.Status) {
		present.LastTransitionTime.Time = wholeSeconds(c.LastTransitionTime.Time)
	}
	present.Status = c.Status
	present.Reason = c.Reason
	present.Message = c.Message
	present.ObservedGeneration = c.ObservedGeneration
}

// sameStatus reports whether a present status equals a given one. The present status may be written in any form that
// ParseStatus reads.
func sameStatus(present, given metav1.ConditionStatus) bool {
	switch present {
	case given:
		return true
	case metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown:
		return false
	}
	return condition.ParseStatus(string(present)) == given
}

// equal reports whether an entry equals a condition, apart from the transition time. An entry without a time is never
// equal, because it has to get a time.
func equal(present, c *metav1.Condition) bool {
	return !present.LastTransitionTime.IsZero() && present.Status == c.Status && present.Reason == c.Reason &&
		present.Message == c.Message && present.ObservedGeneration == c.ObservedGeneration
}
