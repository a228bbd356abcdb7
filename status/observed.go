package status

import (
	"reflect"
	"slices"
	"sync"

	"github.com/operkit/operkit/status/internal/condition"
	"github.com/operkit/operkit/status/internal/structs"
)

// observe writes status.observedGeneration and reports whether that changed the
// object. One that has no such field stays as it is, and so does a bare list.
func (s *ConditionSet) observe(generation int64) bool {
	if object := s.document(); object != nil {
		return observeDocument(object, generation)
	}
	value := reflect.ValueOf(s.target)
	if value.Kind() != reflect.Pointer || value.IsNil() || value.Elem().Kind() != reflect.Struct {
		return false
	}
	place := observedPlace(value.Type().Elem())
	if place == nil {
		return false
	}
	field, ok := structs.Settle(value.Elem(), place)
	if !ok {
		return false
	}
	if present, ok := content(value.Elem(), place); ok && present.Int() == generation {
		return false
	}
	fill(field, false, func(field reflect.Value) { field.SetInt(generation) })
	return true
}

// holdsGenerations reports whether the object's conditions have a place for an
// observed generation of their own.
func (s *ConditionSet) holdsGenerations() bool {
	if _, isAccessor := s.target.(Accessor); isAccessor {
		return true
	}
	held, ok := structOf(s.target)
	return !ok || held.element == nil || held.element.generation != nil
}

func observeDocument(object map[string]any, generation int64) bool {
	status := condition.Map(object, "status")
	present, known := condition.Integer(status[observedGenerationKey])
	if status == nil || known && present == generation {
		return false
	}
	status[observedGenerationKey] = generation
	return true
}

// observedPlaces holds where the structs of the types met so far keep their
// observed generation: reflect.Type to []int, nil for those that don't.
var observedPlaces sync.Map

func observedPlace(t reflect.Type) []int {
	if known, ok := observedPlaces.Load(t); ok {
		return known.([]int)
	}
	place := findObserved(t)
	observedPlaces.Store(t, place)
	return place
}

func findObserved(t reflect.Type) []int {
	status := structs.Index(t, "status")
	if status == nil {
		return nil
	}
	holder := t.FieldByIndex(status).Type
	if holder.Kind() == reflect.Pointer {
		holder = holder.Elem()
	}
	field := structs.Index(holder, observedGenerationKey)
	if field == nil || !isInteger(leaf(holder.FieldByIndex(field).Type)) {
		return nil
	}
	return slices.Concat(status, field)
}
