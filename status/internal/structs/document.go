package structs

import (
	"encoding"
	"encoding/base64"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/operkit/operkit/status/internal/condition"
)

// maxDepth limits the depth to which nested values are converted.
const maxDepth = 200

// trail is the list of values around the value that is being converted. If a pointer, map or list contains itself, the
// inner occurrence becomes nil: otherwise the conversion would never end.
type trail struct {
	address uintptr
	of      reflect.Type
	up      *trail
	depth   int
}

// enter returns the trail for the content of a value. It returns false if the value is on the trail already, or nested
// too deeply.
func (t *trail) enter(value reflect.Value) (trail, bool) {
	next := trail{up: t}
	if t != nil {
		next.depth = t.depth + 1
	}
	kind := value.Kind()
	if kind == reflect.Pointer || kind == reflect.Map || kind == reflect.Slice && value.Len() > 0 {
		next.address, next.of = value.Pointer(), value.Type()
		for up := t; up != nil; up = up.up {
			if up.address == next.address && up.of == next.of {
				return next, false
			}
		}
	}
	return next, next.depth <= maxDepth
}

// Document returns the document that a value encodes to. It consists of maps, lists, strings, booleans, int64, float64
// and nil. Values that can't be encoded become nil. The keys in leaveOut are left out of the top-level map.
func Document(value reflect.Value, leaveOut ...string) any {
	return convert(value, nil, leaveOut)
}

func convert(value reflect.Value, at *trail, leaveOut []string) any {
	switch value.Kind() {
	case reflect.Pointer, reflect.Interface:
		if value.IsNil() {
			return nil
		}
	case reflect.Struct, reflect.Map, reflect.Slice, reflect.Array:
	default:
		return scalar(value)
	}
	if document, ok := encoded(value); ok {
		return document
	}
	inside, ok := at.enter(value)
	if !ok {
		return nil
	}
	return composite(value, &inside, leaveOut)
}

func composite(value reflect.Value, at *trail, leaveOut []string) any {
	switch value.Kind() {
	case reflect.Pointer, reflect.Interface:
		return convert(value.Elem(), at, leaveOut)
	case reflect.Struct:
		return object(value, at, leaveOut)
	case reflect.Map:
		if value.IsNil() || value.Type().Key().Kind() != reflect.String {
			return nil
		}
		result := make(map[string]any, value.Len())
		for entries := value.MapRange(); entries.Next(); {
			result[entries.Key().String()] = convert(entries.Value(), at, nil)
		}
		return result
	}
	if value.Kind() == reflect.Slice && value.IsNil() {
		return nil
	}
	if value.Kind() == reflect.Slice && value.Type().Elem().Kind() == reflect.Uint8 {
		return base64.StdEncoding.EncodeToString(value.Bytes())
	}
	result := make([]any, value.Len())
	for i := range result {
		result[i] = convert(value.Index(i), at, nil)
	}
	return result
}

func object(value reflect.Value, at *trail, leaveOut []string) map[string]any {
	fields := Fields(value.Type())
	result := make(map[string]any, len(fields))
	for i := range fields {
		field := &fields[i]
		content, ok := At(value, field.Index)
		if !ok || slices.Contains(leaveOut, field.Key) || field.omitEmpty && empty(content) || field.omitZero && zero(content) {
			continue
		}
		result[field.Key] = convert(content, at, nil)
	}
	return result
}

func empty(value reflect.Value) bool {
	switch value.Kind() {
	case reflect.Map, reflect.Slice, reflect.Array, reflect.String:
		return value.Len() == 0
	case reflect.Struct:
		return false
	}
	return value.IsZero()
}

// zero calls the IsZero method of values that have it, such as times.
func zero(value reflect.Value) bool {
	if value.Kind() != reflect.Pointer && value.CanInterface() {
		if content, ok := value.Interface().(interface{ IsZero() bool }); ok {
			return content.IsZero()
		}
	}
	return value.IsZero()
}

func scalar(value reflect.Value) any {
	switch value.Kind() {
	case reflect.String:
		return value.String()
	case reflect.Bool:
		return value.Bool()
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return value.Int()
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		if number := value.Uint(); number <= math.MaxInt64 {
			return int64(number)
		}
		return float64(value.Uint())
	case reflect.Float32, reflect.Float64:
		return float(value.Float(), value.Type().Bits())
	}
	return nil
}

// float returns the value that a decoder reads from the shortest text of the number. An integral number becomes an
// int64.
func float(number float64, bits int) any {
	if math.IsNaN(number) || math.IsInf(number, 0) {
		return nil
	}
	if whole, ok := condition.Integer(number); ok {
		return whole
	}
	number, _ = strconv.ParseFloat(strconv.FormatFloat(number, 'g', -1, bits), 64)
	return number
}

var timeType = reflect.TypeFor[metav1.Time]()

// encoded returns the document of a value that has an encoding method of its own, false for other values.
func encoded(value reflect.Value) (any, bool) {
	if !value.CanInterface() {
		return nil, false
	}
	if value.Type() == timeType {
		at := value.Interface().(metav1.Time)
		if at.IsZero() {
			return nil, true
		}
		return at.UTC().Format(time.RFC3339), true
	}
	// Some types have the encoding method on their pointer only. The address also avoids a copy of the value.
	if kind := value.Kind(); value.CanAddr() && kind != reflect.Pointer && kind != reflect.Interface {
		value = value.Addr()
	}
	switch content := value.Interface().(type) {
	case json.Marshaler:
		text, err := content.MarshalJSON()
		if err != nil {
			return nil, true
		}
		var document any
		if utiljson.Unmarshal(text, &document) != nil {
			return nil, true
		}
		return document, true
	case encoding.TextMarshaler:
		text, err := content.MarshalText()
		if err != nil {
			return nil, true
		}
		return string(text), true
	}
	return nil, false
}
