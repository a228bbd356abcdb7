package status

import (
	"fmt"
	"reflect"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operkit/operkit/status/internal/condition"
	"github.com/operkit/operkit/status/internal/structs"
)

// layout is where the structs of one type hold their conditions and their observed generation.
type layout struct {
	// list leads from the struct to status.conditions, generation to status.observedGeneration; nil without one.
	list, generation []int
	// element is nil for metav1.Condition itself.
	element *element
}

// layouts holds the layouts of the types met so far: reflect.Type to *layout.
var layouts sync.Map

var conditionsType = reflect.TypeFor[[]metav1.Condition]()

func findLayout(t reflect.Type) *layout {
	found := &layout{}
	status := structs.Index(t, "status")
	if status == nil {
		return found
	}
	holder := leaf(t.FieldByIndex(status).Type)
	if index := structs.Index(holder, observedGenerationKey); index != nil && isInteger(leaf(holder.FieldByIndex(index).Type)) {
		found.generation = slices.Concat(status, index)
	}
	list := structs.Index(holder, conditionsKey)
	if list == nil {
		return found
	}
	listType := holder.FieldByIndex(list).Type
	if listType.Kind() != reflect.Slice {
		return found
	}
	if listType.Elem() != conditionsType.Elem() {
		if found.element = elementOf(listType.Elem()); found.element == nil {
			return found
		}
	}
	found.list = slices.Concat(status, list)
	return found
}

// held is one struct with its layout.
type held struct {
	*layout
	object reflect.Value
}

// layoutOf returns a struct that is pointed to with its layout, and false for everything else.
func layoutOf(target any) (held, bool) {
	value := reflect.ValueOf(target)
	if value.Kind() != reflect.Pointer || value.IsNil() || value.Elem().Kind() != reflect.Struct {
		return held{}, false
	}
	t := value.Type().Elem()
	found, known := layouts.Load(t)
	if !known {
		found = findLayout(t)
		layouts.Store(t, found)
	}
	return held{found.(*layout), value.Elem()}, true
}

// structOf returns a struct that holds conditions, false for everything else.
func structOf(target any) (held, bool) {
	if found, ok := layoutOf(target); ok && found.list != nil {
		return found, true
	}
	return held{}, false
}

func (h held) read() []metav1.Condition {
	list, ok := structs.At(h.object, h.list)
	switch {
	case !ok:
		return nil
	case h.element == nil:
		return plain(list)
	}
	result := make([]metav1.Condition, list.Len())
	for i := range result {
		result[i] = h.element.read(list.Index(i))
	}
	return result
}

// plain returns a list of metav1.Condition, whatever the name of its type.
func plain(list reflect.Value) []metav1.Condition {
	if conditions, ok := list.Interface().([]metav1.Condition); ok {
		return conditions
	}
	return list.Convert(conditionsType).Interface().([]metav1.Condition)
}

// unwritable is the error of a struct whose conditions can be read and not written.
func (h held) unwritable() error {
	if h.layout == nil || h.element == nil || h.element.unwritable == "" {
		return nil
	}
	return fmt.Errorf("conditions of %s: %w: their %s is of a type that can't be written", h.object.Type(), ErrUnsupportedObject, h.element.unwritable)
}

// restrict removes from a condition what the struct has no field for, so that it doesn't count as a difference.
func (h held) restrict(c, present *metav1.Condition) {
	if h.layout == nil || h.element == nil {
		return
	}
	h.element.restrict(c)
	if h.element.transition == nil {
		present.LastTransitionTime = c.LastTransitionTime
	}
}

// rewrite replaces the list by places. It makes a new slice, since the present one may be shared with the object that
// this one was copied from. Other fields of the elements are kept.
func (h held) rewrite(places []place) error {
	target, ok := structs.MakeAt(h.object, h.list)
	if !ok {
		return fmt.Errorf("conditions of %s: %w: status.conditions can't be set, a nil pointer on the way isn't exported", h.object.Type(), ErrUnsupportedObject)
	}
	list := reflect.MakeSlice(target.Type(), len(places), len(places))
	for to, p := range places {
		if p.from >= 0 {
			list.Index(to).Set(target.Index(p.from))
		}
		switch {
		case p.over == nil:
		case h.element == nil:
			list.Index(to).Set(reflect.ValueOf(*p.over))
		default:
			h.element.write(list.Index(to), p.over)
		}
	}
	target.Set(list)
	return nil
}

// observe writes status.observedGeneration and reports whether that changed the
// object. One that has no such field stays as it is, and so does a bare list.
func (s *ConditionSet) observe(generation int64) bool {
	if object := s.document(); object != nil {
		return observeDocument(object, generation)
	}
	held, _ := layoutOf(s.target)
	if held.layout == nil || held.generation == nil {
		return false
	}
	field, ok := structs.MakeAt(held.object, held.generation)
	if !ok {
		return false
	}
	if present, ok := content(held.object, held.generation); ok && present.Int() == generation {
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
