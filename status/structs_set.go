package status

import (
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// set writes conditions of different types whose content is valid and whose
// times are those that transitions would get, in one pass. It may take out of
// them what the structs have no place for.
func (h held) set(given []metav1.Condition) (changed bool, err error) {
	if h.element != nil && h.element.unwritable != "" {
		return false, fmt.Errorf("conditions of %s: %w: their %s is of a type that can't be written", h.object.Type(), ErrUnsupportedObject, h.element.unwritable)
	}
	present := h.read()
	find := finder(present, len(given))
	var changes map[string]change
	var added []string
	for i := range given {
		index, count := find(given[i].Type)
		next, isChange, err := h.changeTo(present, &given[i], index, count)
		if err != nil {
			return false, err
		}
		if !isChange {
			continue
		}
		if index < 0 {
			added = append(added, given[i].Type)
		}
		if changes == nil {
			changes = make(map[string]change)
		}
		changes[given[i].Type] = next
	}
	if len(changes) == 0 {
		return false, nil
	}
	if !h.write(present, changes, added) {
		return false, h.unsettled()
	}
	return true, nil
}

// change is what a condition is to be, and the entry on whose base: -1 for none.
type change struct {
	to   metav1.Condition
	base int
}

// changeTo answers what a condition makes of the newest of the present entries of
// its type, false when that says it already and is the only one.
func (h held) changeTo(present []metav1.Condition, c *metav1.Condition, index, count int) (change, bool, error) {
	if h.element != nil {
		h.element.restrict(c)
	}
	if index >= 0 && h.element != nil && h.element.transition == nil {
		present[index].LastTransitionTime = c.LastTransitionTime // there is no place for it to be missing from
	}
	if count == 1 && says(&present[index], c) {
		return change{}, false, nil
	}
	next := change{metav1.Condition{Type: c.Type}, index}
	if index >= 0 {
		next.to = present[index]
	} else if err := validateType(c.Type); err != nil {
		return change{}, false, err
	}
	overwrite(&next.to, c)
	return next, true, nil
}

// write makes the list consist of what is present and of the changes, each in
// the place of the first of its type; new types are at the end.
func (h held) write(present []metav1.Condition, changes map[string]change, added []string) bool {
	order := make([]int, 0, len(present)+len(added))
	places := make(map[string]int, len(changes))
	for i := range present {
		conditionType := present[i].Type
		next, isChange := changes[conditionType]
		if !isChange {
			order = append(order, i)
		} else if _, placed := places[conditionType]; !placed {
			places[conditionType] = len(order)
			order = append(order, next.base)
		}
	}
	for _, conditionType := range added {
		places[conditionType] = len(order)
		order = append(order, -1)
	}
	return h.pick(order, func(picked reflect.Value) {
		for conditionType, place := range places {
			c := changes[conditionType].to
			h.put(picked.Index(place), &c)
		}
	})
}

// finder answers newestOf of a list, for one that is asked some times.
func finder(list []metav1.Condition, times int) func(conditionType string) (index, count int) {
	if times <= few {
		return func(conditionType string) (int, int) { return newestOf(list, conditionType) }
	}
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
