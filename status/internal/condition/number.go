package condition

import "math"

// Integer reads an integer: int64 as Kubernetes decoders give it, an integral
// float64 as encoding/json gives it, or a Go int of a document made by hand.
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
	}
	return 0, false
}
