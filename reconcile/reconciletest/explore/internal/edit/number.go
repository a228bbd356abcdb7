package edit

import "math"

// numbers returns numbers near the present one, and at the edges of the range.
func numbers(schema map[string]any, present any) (values []any) {
	step, has := numberOf(schema["multipleOf"])
	if !has || step <= 0 {
		step = 1
	}
	least, most := smallest(schema), largest(schema)
	number, exists := numberOf(present)
	if !exists {
		number = 0
		if least, is := numberOf(least); is {
			number = max(number, least)
		}
	}
	base := math.Floor(number/step) * step
	values = append(values, asNumber(schema, base+step), asNumber(schema, base-step), least, most)
	if !exists {
		values = append(values, asNumber(schema, base))
	}
	low, hasLow := numberOf(least)
	high, hasHigh := numberOf(most)
	if hasLow && hasHigh && schema["type"] == "number" { // between exclusive edges there may be no other ones
		values = append(values, asNumber(schema, (low+high)/2), asNumber(schema, low+(high-low)/4))
	}
	return values
}

// smallest returns the smallest number of the range, and nil without a range. For exclusive edges it is next to them.
func smallest(schema map[string]any) any {
	least, has := numberOf(schema["minimum"])
	if !has {
		return nil
	}
	return inside(schema, least, schema["exclusiveMinimum"] == true, math.Ceil, 1)
}

// largest returns the largest number of the range, and nil without a range.
func largest(schema map[string]any) any {
	most, has := numberOf(schema["maximum"])
	if !has {
		return nil
	}
	return inside(schema, most, schema["exclusiveMaximum"] == true, math.Floor, -1)
}

// inside returns the first multiple at an edge of the range, or next to it inwards.
func inside(schema map[string]any, edge float64, exclusive bool, round func(float64) float64, inwards float64) any {
	step, has := numberOf(schema["multipleOf"])
	if !has && schema["type"] == "number" && exclusive {
		step = 1.0 / 128
	} else if !has {
		step = 1
	}
	if !has && schema["type"] == "number" && !exclusive || step <= 0 {
		return asNumber(schema, edge)
	}
	number := round(edge/step) * step
	if exclusive && number == edge {
		number += inwards * step
	}
	return asNumber(schema, number)
}

// asNumber returns a number as the objects of a cluster hold it: as an integer if it is one.
func asNumber(schema map[string]any, number float64) any {
	if math.Trunc(number) == number && math.Abs(number) < 1<<62 {
		return int64(number)
	}
	if schema["type"] != "number" {
		return nil
	}
	return number
}

// inRange reports whether a number is valid.
func inRange(schema map[string]any, number float64) bool {
	if least, has := numberOf(schema["minimum"]); has && (number < least || number == least && schema["exclusiveMinimum"] == true) {
		return false
	}
	if most, has := numberOf(schema["maximum"]); has && (number > most || number == most && schema["exclusiveMaximum"] == true) {
		return false
	}
	if schema["format"] == "int32" && (number < math.MinInt32 || number > math.MaxInt32) {
		return false
	}
	step, has := numberOf(schema["multipleOf"])
	if has && math.Trunc(step) != step && math.Trunc(number) == number {
		return false // API servers refuse integers here
	}
	return !has || step <= 0 || math.Mod(number, step) == 0
}
