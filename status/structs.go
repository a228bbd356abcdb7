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

// structOf answers a struct that holds conditions, false for everything else.
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

// plain answers a list of metav1.Condition, whatever the name of its type.
func plain(list reflect.Value) []metav1.Condition {
	if conditions, ok := list.Interface().([]metav1.Condition); ok {
		return conditions
	}
	return list.Convert(conditionsType).Interface().([]metav1.Condition)
}

// unsettled is the error of a struct whose list can't be set.
func (h held) unsettled() error {
	return fmt.Errorf("conditions of %s: %w: status.conditions can't be set, a nil pointer on the way isn't exported", h.object.Type(), ErrUnsupportedObject)
}

func (h held) remove(conditionType string) bool {
	list := h.read()
	if conditionType == "" {
		return false
	}
	order := make([]int, 0, len(list))
	for i := range list {
		if list[i].Type != conditionType {
			order = append(order, i)
		}
	}
	return len(order) < len(list) && h.pick(order, nil)
}

// pick makes the list consist of its elements at some places, and of new ones
// for -1. It is a slice of its own: the present one may be shared with what the
// object was copied from. Whatever else the elements hold goes with them.
func (h held) pick(order []int, finish func(picked reflect.Value)) bool {
	target, ok := structs.Settle(h.object, h.list)
	if !ok {
		return false
	}
	picked := reflect.MakeSlice(target.Type(), len(order), len(order))
	for to, from := range order {
		if from >= 0 {
			picked.Index(to).Set(target.Index(from))
		}
	}
	if finish != nil {
		finish(picked)
	}
	target.Set(picked)
	return true
}

func (h held) put(place reflect.Value, c *metav1.Condition) {
	if h.element == nil {
		*place.Addr().Interface().(*metav1.Condition) = *c
		return
	}
	h.element.write(place, c)
}
