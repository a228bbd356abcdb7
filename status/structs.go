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

// layout holds the indexes of the conditions and of the observed generation in one struct type.
type layout struct {
	// list is the index of status.conditions, generation the index of status.observedGeneration. They are nil if the
	// type doesn't have the field.
	list, generation []int
	// element is nil for metav1.Condition itself.
	element *element
}

// layouts caches the layouts of types: reflect.Type to *layout.
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

// layoutOf returns the struct that target points to, with its layout. It returns false if target isn't a non-nil
// pointer to a struct.
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

// structOf is layoutOf for structs that have conditions. It returns false for all others.
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

// plain returns a list of metav1.Condition, even if its slice type has a name of its own.
func plain(list reflect.Value) []metav1.Condition {
	if conditions, ok := list.Interface().([]metav1.Condition); ok {
		return conditions
	}
	return list.Convert(conditionsType).Interface().([]metav1.Condition)
}

// unwritable returns an error if the conditions of the struct can be read but not written.
func (h held) unwritable() error {
	if h.layout == nil || h.element == nil || h.element.unwritable == "" {
		return nil
	}
	return fmt.Errorf("conditions of %s: %w: the type of their field %s can't be written", h.object.Type(), ErrUnsupportedObject, h.element.unwritable)
}

// restrict clears the parts of a condition that the struct has no field for, so that they don't count as a difference.
func (h held) restrict(c, present *metav1.Condition) {
	if h.layout == nil || h.element == nil {
		return
	}
	h.element.restrict(c)
	if h.element.transition == nil {
		present.LastTransitionTime = c.LastTransitionTime
	}
}

// rewrite replaces the list with the elements that places describes. It makes a new slice, because the object may be a
// shallow copy that shares the slice with its original. Other fields of the elements are kept.
func (h held) rewrite(places []place) error {
	target, ok := structs.MakeAt(h.object, h.list)
	if !ok {
		return fmt.Errorf("conditions of %s: %w: can't set status.conditions: a nil pointer on its path isn't exported", h.object.Type(), ErrUnsupportedObject)
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
			h.element.write(list.Index(to), p.over, p.at)
		}
	}
	target.Set(list)
	return nil
}

// observe writes status.observedGeneration and reports whether that changed the object. It doesn't change a struct
// without this field, or a bare list.
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

// holdsGenerations reports whether the object's conditions have a field for their own observed generation.
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
