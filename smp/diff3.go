package smp

import (
	"maps"
	"slices"

	"github.com/operkit/operkit/smp/internal/document"
	"github.com/operkit/operkit/smp/internal/schema"
)

// Diff3 makes the strategic merge patch that kubectl apply sends. original is the document that was applied last,
// modified the document to apply now, and current the document in the cluster, which others may have changed. The patch
// sets the values of modified, deletes values that only original and current have, and keeps everything else in
// current.
//
// A nil original deletes nothing. A null in modified deletes a field. [Strategic] applies the patch to current. The
// patch leaves out values that current has already. New elements of lists have the same places as in modified, among
// the elements that only current has.
//
// Elements with the same key, such as the two ports 53 of a Service for DNS, are matched by their order. If modified
// has fewer elements with a key than original had, the patch also deletes elements with that key that others added. If
// a list that merges has an element without a key, the list of modified replaces it.
//
// No argument is changed. Modes and errors are those of [Diff].
func Diff3(original, modified, current map[string]any, schema Schema, opts ...Option) (map[string]any, error) {
	return call(current, opts, func(o options) (map[string]any, error) { return diff3(original, modified, current, schema, o) })
}

func diff3(original, modified, current map[string]any, schema Schema, o options) (map[string]any, error) {
	if err := schema.checkKind(current); err != nil {
		return nil, err
	}
	t := threeWay{merger{options: o, noSchema: !schema.Known()}}
	wanted, err := t.maps(original, modified, current, schema.place)
	if err != nil {
		return nil, err
	}
	return diff(current, wanted, schema, o)
}

// threeWay computes the document that the patch has to produce. The result shares values with the three documents.
type threeWay struct{ merger }

func (t *threeWay) maps(original, modified, current map[string]any, place schema.Place) (map[string]any, error) {
	if err := t.tooDeep(); err != nil {
		return nil, err
	}
	out := make(map[string]any, len(current))
	maps.Copy(out, current)
	for key := range original {
		if _, stays := modified[key]; !stays {
			delete(out, key)
		}
	}
	set := false
	for _, key := range slices.Sorted(maps.Keys(modified)) {
		value := modified[key]
		if value == nil {
			delete(out, key)
			continue
		}
		set = true
		t.enter(key)
		wanted, err := t.field(key, original[key], value, current, place.Type)
		if err != nil {
			return nil, err
		}
		t.leave()
		out[key] = wanted
	}
	if set && place.Strategy&schema.RetainKeys != 0 {
		maps.DeleteFunc(out, func(key string, _ any) bool { _, stays := modified[key]; return !stays })
	}
	return out, nil
}

func (t *threeWay) field(key string, original, value any, current map[string]any, parent *schema.Type) (any, error) {
	place, known := parent.Field(key)
	switch value := value.(type) {
	case map[string]any:
		live, both := current[key].(map[string]any)
		switch {
		case !both || document.Equal(live, value) || place.Strategy&schema.Replace != 0:
			return t.withoutNulls(value)
		case !known || !mergesAsMap(place.Type):
			return nil, t.unknownField(parent)
		}
		before, _ := original.(map[string]any)
		return t.maps(before, value, live, place)
	case []any:
		live, both := current[key].([]any)
		switch {
		case !both || document.Equal(live, value):
			return t.withoutNulls(value)
		case !known || !t.mergesAsList(place.Type):
			return nil, t.unknownField(parent)
		case place.Strategy&schema.Merge == 0:
			return t.withoutNulls(value)
		}
		before, _ := original.([]any)
		return t.lists(before, value, live, place)
	default:
		return value, nil
	}
}

// withoutNulls returns a copy of a value of modified, for a place where nothing of current is kept. It drops nulls,
// because there is nothing for them to delete.
func (t *threeWay) withoutNulls(value any) (any, error) {
	copied, err := t.clone(value)
	if err != nil {
		return nil, err
	}
	dropNulls(copied)
	return copied, nil
}

// dropNulls removes null fields from a value that is not shared.
func dropNulls(value any) {
	switch value := value.(type) {
	case map[string]any:
		maps.DeleteFunc(value, func(_ string, field any) bool { return field == nil })
		for _, field := range value {
			dropNulls(field)
		}
	case []any:
		for _, element := range value {
			dropNulls(element)
		}
	}
}

// lists computes the wanted content of a list that merges.
func (t *threeWay) lists(original, modified, current []any, place schema.Place) (any, error) {
	before, wanted, live := new(index), new(index), new(index)
	if !occurrences(wanted, modified, place) || !occurrences(live, current, place) {
		return t.withoutNulls(modified)
	}
	if !occurrences(before, original, place) {
		before.reset(0)
	}
	// If modified has fewer elements with an identity than original, elements that others added can't be distinguished
	// from deleted elements.
	gone := new(index)
	for _, id := range before.ids {
		if wanted.find(id) < 0 {
			gone.add(firstOf(id))
		}
	}
	var l arrangement
	for i, id := range live.ids {
		if wanted.find(id) >= 0 || gone.find(firstOf(id)) < 0 {
			l.add(id, current[i], true)
		}
	}
	for i, id := range wanted.ids {
		t.enterElement(i)
		if at := l.known.find(id); at >= 0 {
			var old any
			if j := before.find(id); j >= 0 {
				old = original[j]
			}
			merged, err := t.element(old, modified[i], l.entries[at].value, place)
			if err != nil {
				return nil, err
			}
			l.entries[at].value = merged
		} else {
			taken, err := t.withoutNulls(modified[i])
			if err != nil {
				return nil, err
			}
			l.add(id, taken, false)
		}
		t.leave()
		l.name(id, i)
	}
	rankRepetitions(&l, wanted)
	return l.arrange(), nil
}

// rankRepetitions places elements that others added behind the elements of modified with the same key. If they came
// first, the next Diff3 would take them for elements of modified.
func rankRepetitions(l *arrangement, wanted *index) {
	ranks := make(map[any]int32, len(wanted.ids))
	for i, id := range wanted.ids {
		ranks[firstOf(id)] = int32(i)
	}
	for i := range l.entries {
		if rank, named := ranks[firstOf(l.known.ids[i])]; named && l.entries[i].rank < 0 {
			l.entries[i].rank = rank
		}
	}
}

// element computes the wanted content of an element that current has.
func (t *threeWay) element(original, modified, current any, place schema.Place) (any, error) {
	object, isMap := modified.(map[string]any)
	if !isMap {
		return current, nil
	}
	old, _ := original.(map[string]any)
	return t.maps(old, object, current.(map[string]any), schema.Place{Type: place.Type.Elements(), Strategy: place.Strategy})
}

// occurrence is a repetition of an element's identity.
type occurrence struct {
	id  any
	nth int
}

// firstOf returns the identity that an occurrence repeats.
func firstOf(id any) any {
	if o, repeats := id.(occurrence); repeats {
		return o.id
	}
	return id
}

// occurrences adds the identities of all elements of a merged list, objects or scalars, to an empty index. A repeated
// identity is added as an occurrence. The result is false if an element has no identity.
func occurrences(ids *index, list []any, place schema.Place) bool {
	var firsts index
	var counts []int
	for _, value := range list {
		id, ok := elementID(value, place.Keys)
		if !ok {
			return false
		}
		first := firsts.add(id)
		counts = append(counts, 0)
		if counts[first] > 0 {
			id = occurrence{id, counts[first]}
		}
		counts[first]++
		ids.add(id)
	}
	return true
}
