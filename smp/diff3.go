package smp

import (
	"maps"
	"slices"

	"github.com/operkit/operkit/smp/internal/document"
	"github.com/operkit/operkit/smp/internal/schema"
)

// Diff3 makes the strategic merge patch that brings current to what is wanted while others may have
// changed it: what modified says is set, what original said and modified doesn't is deleted, and
// everything else stays as it is in current. It is what kubectl apply sends, original being what was
// applied last.
//
// A nil original deletes nothing. A null in modified deletes a field. The patch is made for current:
// [Strategic] applies it, and nothing is in it that current has already. New elements of lists come
// where modified has them, among those that are only in current.
//
// Of several elements with the same key, as the two ports 53 of a Service for DNS, the first of
// modified is that of current, the second the second; where modified has fewer of them than original
// had, no others stay. A merged list with an element that has no key
// at all is taken from modified as it is.
//
// Mutation, modes and errors are as with [Diff].
func Diff3(original, modified, current map[string]any, schema Schema, opts ...Option) (map[string]any, error) {
	o, err := newOptions(opts)
	if err != nil {
		return nil, err
	}
	patch, err := diff3(original, modified, current, schema, o)
	if err != nil {
		return nil, located(err, current, o)
	}
	return patch, nil
}

func diff3(original, modified, current map[string]any, schema Schema, o options) (map[string]any, error) {
	if err := schema.checkKind(current); err != nil {
		return nil, err
	}
	t := threeWay{merger{options: o, listless: !schema.Known()}}
	wanted, err := t.maps(original, modified, current, schema.place)
	if err != nil {
		return nil, err
	}
	return diff(current, wanted, schema, o)
}

// threeWay makes what is wanted out of three documents. What it makes shares with them.
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
			return t.settled(value)
		case !known || !mergesAsMap(place.Type):
			return nil, t.unknownField(parent)
		}
		before, _ := original.(map[string]any)
		return t.maps(before, value, live, place)
	case []any:
		live, both := current[key].([]any)
		switch {
		case !both || document.Equal(live, value):
			return t.settled(value)
		case !known || !t.mergesAsList(place.Type):
			return nil, t.unknownField(parent)
		case place.Strategy&schema.Merge == 0:
			return t.settled(value)
		}
		before, _ := original.([]any)
		return t.lists(before, value, live, place)
	default:
		return value, nil
	}
}

// settled is a value of modified that there is nothing to merge with: without its nulls, since they
// only delete.
func (t *threeWay) settled(value any) (any, error) {
	copied, err := t.clone(value)
	if err != nil {
		return nil, err
	}
	dropNulls(copied)
	return copied, nil
}

// dropNulls takes the fields that are null out of a value that nobody else has.
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

// lists makes what is wanted of a list that merges.
func (t *threeWay) lists(original, modified, current []any, place schema.Place) (any, error) {
	before, wanted, live := new(index), new(index), new(index)
	if !occurrences(wanted, modified, place) || !occurrences(live, current, place) {
		return t.settled(modified)
	}
	if !occurrences(before, original, place) {
		before.reset(0)
	}
	// Once fewer are wanted than were applied, those of others can't be told from the ones that go.
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
			taken, err := t.settled(modified[i])
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

// rankRepetitions has elements of others stay behind the ones that they repeat, which would otherwise
// be taken for them next time.
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

// element makes what is wanted of an element that current has.
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

// firstOf is the identity that an occurrence repeats.
func firstOf(id any) any {
	if o, repeats := id.(occurrence); repeats {
		return o.id
	}
	return id
}

// occurrences adds the identities of the elements of a list that merges, objects or scalars, to an
// empty index, repetitions as what they are. It answers false when one has none.
func occurrences(ids *index, list []any, place schema.Place) bool {
	var firsts index
	var counts []int
	for _, value := range list {
		id, ok := any(nil), false
		if object, isMap := value.(map[string]any); isMap && len(place.Keys) > 0 {
			id, _, ok = identify(object, place.Keys)
		} else if len(place.Keys) == 0 {
			id, ok = document.Scalar(value)
		}
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
