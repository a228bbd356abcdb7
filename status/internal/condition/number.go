package condition

import (
	"encoding/json"
	"math"
)

// Integer reads an integer: int64 as Kubernetes decoders give it, an integral
// float64 or json.Number as encoding/json gives it, or another Go integer of a
// document made by hand.
// Everything else answers false.
func Integer(value any) (int64, bool) {
	switch value := value.(type) {
	case int64:
		return value, true
	case float64:
		// The upper bound itself is 2^63, one more than an int64 holds.
		if value == math.Trunc(value) && value >= math.MinInt64 && value < math.MaxInt64 {
			return int64(value), true
		}
	case int:
		return int64(value), true
	case int32:
		return int64(value), true
	case json.Number:
		if n, err := value.Int64(); err == nil {
			return n, true
		}
		if f, err := value.Float64(); err == nil {
			return Integer(f)
		}
	}
	return rareInteger(value)
}

// rareInteger reads the Go integers that hardly any document holds.
func rareInteger(value any) (int64, bool) {
	switch value := value.(type) {
	case int8:
		return int64(value), true
	case int16:
		return int64(value), true
	case uint8:
		return int64(value), true
	case uint16:
		return int64(value), true
	case uint32:
		return int64(value), true
	case uint:
		return rareInteger(uint64(value))
	case uint64:
		if value <= math.MaxInt64 {
			return int64(value), true
		}
	}
	return 0, false
}
