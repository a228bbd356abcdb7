package status

import (
	"fmt"
	"reflect"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operkit/operkit/status/internal/structs"
)

// layout is where the structs of one type hold their conditions.
type layout struct {
	list []int // from the struct to status.conditions
	// element is nil for metav1.Condition itself.
	element *element
}

// layouts holds those of the types met so far: reflect.Type to *layout, which
// is nil for types without conditions.
var layouts sync.Map

func layoutOf(t reflect.Type) *layout {
	if known, ok := layouts.Load(t); ok {
		return known.(*layout)
	}
	found := find(t)
	layouts.Store(t, found)
	return found
}

var conditionsType = reflect.TypeFor[[]metav1.Condition]()

func find(t reflect.Type) *layout {
	status := structs.Index(t, "status")
	if status == nil {
		return nil
	}
	holder := t.FieldByIndex(status).Type
	if holder.Kind() == reflect.Pointer {
		holder = holder.Elem()
	}
	list := structs.Index(holder, conditionsKey)
	if list == nil {
		return nil
	}
	found := &layout{list: slices.Concat(status, list)}
	switch listType := holder.FieldByIndex(list).Type; {
	case listType.ConvertibleTo(conditionsType) && listType.Kind() == reflect.Slice && listType.Elem() == conditionsType.Elem():
	case listType.Kind() == reflect.Slice:
		if found.element = elementOf(listType.Elem()); found.element == nil {
			return nil
		}
	default:
		return nil
	}
	return found
}

// held is one struct with its layout.
type held struct {
	*layout
	object reflect.Value
}

// structOf returns a struct that holds conditions, false for everything else.
func structOf(target any) (held, bool) {
	value := reflect.ValueOf(target)
	if value.Kind() != reflect.Pointer || value.IsNil() || value.Elem().Kind() != reflect.Struct {
		return held{}, false
	}
	found := layoutOf(value.Type().Elem())
	return held{found, value.Elem()}, found != nil
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

// restrict takes out of a condition what the struct has no place for, so that it isn't missed in the present one.
func (h held) restrict(c, present *metav1.Condition) {
	if h.layout == nil || h.element == nil {
		return
	}
	h.element.restrict(c)
	if h.element.transition == nil {
		present.LastTransitionTime = c.LastTransitionTime
	}
}

// rewrite makes the list consist of places. It is a slice of its own: the present one may be shared with what the
// object was copied from. Whatever else the elements hold goes with them.
func (h held) rewrite(places []place) error {
	target, ok := structs.Settle(h.object, h.list)
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
