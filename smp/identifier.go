package smp

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/operkit/operkit/smp/internal/schema"
)

// canonical returns a scalar so that equal ones are ==, as values of JSON: 80 and 80.0 are equal, 80
// and "80" are not (spec: smp 29). ok is false for what is no scalar.
func canonical(value any) (scalar any, ok bool) {
	switch value := value.(type) {
	case string, bool, int64:
		return value, true
	case float64:
		if whole := int64(value); float64(whole) == value && math.Abs(value) < 1<<63 {
			return whole, true
		}
		return value, true
	case int:
		return int64(value), true
	case int32:
		return int64(value), true
	case json.Number:
		return canonicalNumber(value), true
	default:
		return nil, false
	}
}

func canonicalNumber(number json.Number) any {
	if whole, err := number.Int64(); err == nil {
		return whole
	}
	if float, err := number.Float64(); err == nil && strconv.FormatFloat(float, 'g', -1, 64) == string(number) {
		scalar, _ := canonical(float)
		return scalar
	}
	return number
}

// identify returns what tells an element of a list from others: the value of its key, or the values
// of all of them. ok is false when one is missing or no scalar; missing is its name.
func identify(element map[string]any, keys []schema.Key) (id any, missing string, ok bool) {
	if len(keys) == 1 {
		id, ok = keyValue(element, keys[0])
		return id, keys[0].Name, ok
	}
	var b strings.Builder
	for _, key := range keys {
		value, ok := keyValue(element, key)
		if !ok {
			return nil, key.Name, false
		}
		writeScalar(&b, value)
	}
	return b.String(), "", true
}

func keyValue(element map[string]any, key schema.Key) (any, bool) {
	value, found := element[key.Name]
	if !found {
		value = key.Default
	}
	return canonical(value)
}

// writeScalar writes a canonical scalar so that different ones can't be taken for each other.
func writeScalar(b *strings.Builder, scalar any) {
	switch scalar := scalar.(type) {
	case string:
		b.WriteString(strconv.Quote(scalar))
	case bool:
		b.WriteString(strconv.FormatBool(scalar))
	case int64:
		b.WriteString(strconv.FormatInt(scalar, 10))
	case float64:
		b.WriteString(strconv.FormatFloat(scalar, 'g', -1, 64))
	case json.Number:
		b.WriteString(scalar.String())
	}
	b.WriteByte(',')
}

// describe is how an element is named in errors.
func describe(id any) string {
	if text, isText := id.(string); isText {
		return strconv.Quote(text)
	}
	var b strings.Builder
	writeScalar(&b, id)
	return strings.TrimSuffix(b.String(), ",")
}
