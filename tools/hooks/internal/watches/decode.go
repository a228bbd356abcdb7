package watches

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"
)

// fields has, for the name of each field of an object, a pointer to the place of its value.
type fields map[string]any

// object decodes an object strictly. Unlike a decoder of JSON, it returns all mistakes, each with the path of its field.
// A field that is null is one that is absent.
func object(at *field.Path, text json.RawMessage, into fields) (errs field.ErrorList) {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(text, &values); err != nil {
		return field.ErrorList{field.Invalid(at, brief(text), "must be an object")}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		place, ok := into[name]
		switch {
		case !ok:
			known := strings.Join(slices.Sorted(maps.Keys(into)), ", ")
			errs = append(errs, field.Invalid(at.Child(name), brief(values[name]), "unknown field: use one of "+known))
		case string(values[name]) != "null":
			errs = append(errs, value(at.Child(name), values[name], place)...)
		}
	}
	return errs
}

// value decodes the value of a field into a place.
func value(at *field.Path, text json.RawMessage, place any) (errs field.ErrorList) {
	unknown, err := kjson.UnmarshalStrict(text, place)
	if err == nil {
		err = errors.Join(unknown...)
	}
	if err == nil {
		return nil
	}
	detail := err.Error()
	switch place.(type) {
	case *string:
		detail = "must be a text: put it in quotation marks"
	case *bool:
		detail = "must be true or false"
	case *int:
		detail = "must be a whole number"
	case *map[string]any:
		detail = "must be an object"
	case *[]json.RawMessage:
		detail = "must be a list"
	case *metav1.Duration:
		detail = "must be a time, such as 30s or 1h"
	}
	return append(errs, field.Invalid(at, brief(text), detail))
}

// brief returns the begin of a text, for an error.
func brief(text json.RawMessage) string {
	const longest = 60
	from := strings.Trim(string(text), `"`)
	if len(from) > longest {
		from = strings.ToValidUTF8(from[:longest], "") + "..."
	}
	return from
}
