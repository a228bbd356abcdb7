package document

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// Scalar returns a string, a boolean or a number in a form that Go's == compares as JSON does, and that can be the key
// of a map: 80, 80.0 and json.Number("8e1") are the same int64. ok is false for null and for anything else that isn't a
// scalar.
func Scalar(value any) (scalar any, ok bool) {
	switch v := value.(type) {
	case string, bool, int64:
		return value, true
	case float64:
		if whole, isWhole := wholeNumber(v); isWhole {
			return whole, true
		}
		return value, finite(v) == nil
	}
	number, known, err := normal(value)
	if !known || err != nil {
		return nil, false
	}
	if literal, isLiteral := number.(json.Number); isLiteral {
		return scalarOf(string(literal)), true
	}
	return Scalar(number)
}

// scalarOf returns the scalar of a valid literal. A number that neither int64 nor float64 holds is written in its one
// normal form.
func scalarOf(literal string) any {
	if i, err := strconv.ParseInt(literal, 10, 64); err == nil {
		return i
	}
	if f, exact := exactFloat(literal); exact {
		scalar, _ := Scalar(f)
		return scalar
	}
	d := decimalOf(literal)
	sign := ""
	if d.negative {
		sign = "-"
	}
	return json.Number(sign + d.digits + "e" + d.exponent.String())
}

// TypeName returns the JSON type of a value for errors: "a string", "an object".
func TypeName(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	}
	if _, known, _ := normal(value); known {
		return "a number"
	}
	return fmt.Sprintf("a Go %T", value)
}
