package smp

import (
	"maps"

	"github.com/operkit/operkit/smp/internal/document"
	"github.com/operkit/operkit/smp/internal/schema"
)

// Diff3 makes the strategic merge patch that brings current to what is wanted while others may have
// changed it: what modified says is set, what original said and modified doesn't is deleted, and
// everything else stays as it is in current. It is what kubectl apply sends, original being what was
// applied last.
//
// A nil original deletes nothing. A null in modified deletes a field. The patch is made for current:
// [Strategic] applies it, and nothing is in it that current has already. Mutation and errors are as
// with [Diff].
func Diff3(original, modified, current map[string]any, schema Schema, opts ...Option) (map[string]any, error) {
	o := newOptions(opts)
	t := threeWay{merger{options: o, listless: !schema.Known()}}
	t.shared = true
	wanted, err := t.maps(original, modified, current, schema.place)
	if err != nil {
		return nil, located(err, current, o)
	}
	patch, err := diff(current, wanted, schema, o)
	if err != nil {
		return nil, located(err, current, o)
	}
	return patch, nil
}

// threeWay makes what is wanted out of three documents. What it makes shares with them.
type threeWay struct{ merger }

func (t *threeWay) maps(original, modified, current map[string]any, place schema.Place) (map[string]any, error) {
	if len(t.path) > t.limits.depth {
		return nil, t.fail(Limit, "the documents are nested deeper than %d levels", t.limits.depth)
	}
	out := make(map[string]any, len(current))
	maps.Copy(out, current)
	for key := range original {
		if _, stays := modified[key]; !stays {
			delete(out, key)
		}
	}
	set := false
	for key, value := range modified {
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
			return t.settled(value), nil
		case !known || !mergesAsMap(place.Type):
			return nil, t.unknownField(parent)
		}
		before, _ := original.(map[string]any)
		return t.maps(before, value, live, place)
	case []any:
		live, both := current[key].([]any)
		switch {
		case !both || document.Equal(live, value):
			return t.settled(value), nil
		case !known || !t.mergesAsList(place.Type):
			return nil, t.unknownField(parent)
		case place.Strategy&schema.Merge == 0:
			return t.settled(value), nil
		}
		before, _ := original.([]any)
		return t.lists(before, value, live, place)
	default:
		return value, nil
	}
}

// settled is a value of modified that there is nothing to merge with: without its nulls, since they
// only delete.
func (t *threeWay) settled(value any) any {
	if !nested(value) || !holdsNull(value, t.limits.depth-len(t.path)) {
		return value
	}
	switch value := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(value))
		for key, field := range value {
			if field != nil {
				out[key] = t.settled(field)
			}
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i, element := range value {
			out[i] = t.settled(element)
		}
		return out
	default:
		return value
	}
}

// lists makes what is wanted of a list that merges. Where elements have no key, or can't be told
// apart by it, as two ports of a Service that differ by their protocol, it is what modified says.
func (t *threeWay) lists(original, modified, current []any, place schema.Place) ([]any, error) {
	before, wanted, live := new(index), new(index), new(index)
	if !distinct(wanted, modified, place) || !distinct(live, current, place) {
		return t.settled(modified).([]any), nil
	}
	if !distinct(before, original, place) {
		before.reset(0)
	}
	var l arrangement
	for i, id := range live.ids {
		if wanted.find(id) >= 0 || before.find(id) < 0 {
			l.add(id, current[i], true)
		}
	}
	for i, id := range wanted.ids {
		at := l.known.find(id)
		if at < 0 {
			l.add(id, t.settled(modified[i]), false)
			l.name(id, i)
			continue
		}
		l.name(id, i)
		object, isMap := modified[i].(map[string]any)
		if !isMap {
			continue
		}
		var old map[string]any
		if j := before.find(id); j >= 0 {
			old, _ = original[j].(map[string]any)
		}
		t.enterElement(i)
		merged, err := t.maps(old, object, l.entries[at].value.(map[string]any), schema.Place{Type: place.Type.Elements(), Strategy: place.Strategy})
		if err != nil {
			return nil, err
		}
		t.leave()
		l.entries[at].value = merged
	}
	return l.arrange(), nil
}

// distinct adds the identities of the elements of a list that merges, objects or scalars, to an empty
// index. It answers false unless all have one and no two the same.
func distinct(ids *index, list []any, place schema.Place) bool {
	if len(place.Keys) > 0 {
		return identifyAll(ids, list, place.Keys)
	}
	return canonicalAll(ids, list)
}
