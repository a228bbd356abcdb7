package condition

import (
	"encoding/json"
	"math"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Integer reads an integer: int64 as Kubernetes decoders give it, an integral float64 or json.Number as encoding/json
// gives it, or another Go integer of a document made by hand. For any other value it returns false.
func Integer(value any) (int64, bool) {
	switch value := value.(type) {
	case int64:
		return value, true
	case float64:
		// As a float64, math.MaxInt64 is 2^63, one more than an int64 holds.
		if value == math.Trunc(value) && value >= math.MinInt64 && value < math.MaxInt64 {
			return int64(value), true
		}
	case json.Number:
		if n, err := value.Int64(); err == nil {
			return n, true
		}
		if f, err := value.Float64(); err == nil {
			return Integer(f)
		}
	}
	switch number := reflect.ValueOf(value); {
	case number.CanInt():
		return number.Int(), true
	case number.CanUint() && number.Uint() <= math.MaxInt64:
		return int64(number.Uint()), true
	}
	return 0, false
}

// layouts are the forms of timestamps in conditions: RFC 3339, and forms without a zone, which oper8 and other writers
// use and which are read as UTC. Parsing accepts fractions of a second in each.
var layouts = [...]string{
	time.RFC3339,
	"2006-01-02T15:04:05",
	"2006-01-02 15:04:05Z07:00",
	"2006-01-02 15:04:05",
	"2006-01-02",
}

// ParseTime reads a timestamp: a string of a known form, or an already parsed time. It returns false for a missing,
// zero or unreadable time, and for a time that can't be written in RFC 3339 (see Datable).
func ParseTime(value any) (time.Time, bool) {
	switch value := value.(type) {
	case string:
		return parseText(value)
	case time.Time:
		return value, Datable(value)
	case metav1.Time:
		return value.Time, Datable(value.Time)
	case *metav1.Time:
		if value != nil {
			return value.Time, Datable(value.Time)
		}
	}
	return time.Time{}, false
}

// The seconds of the first and the last time that RFC 3339 can write in UTC. The first one is the zero time, which
// counts as no time.
const firstSecond, lastSecond = -62135596800, 253402300799

// Datable reports whether a time isn't zero and can be written in RFC 3339 in UTC. 9999-12-31T23:59:59-01:00 can't, for
// example: in UTC it is in the year 10000.
func Datable(at time.Time) bool {
	seconds := at.Unix()
	return seconds > firstSecond && seconds <= lastSecond
}

func parseText(text string) (time.Time, bool) {
	if len(text) < len("2006-01-02") {
		return time.Time{}, false
	}
	for _, layout := range layouts {
		if at, err := time.Parse(layout, text); err == nil {
			return at, Datable(at)
		}
	}
	return time.Time{}, false
}

// Transition returns when the entry's status last changed: lastTransitionTime, or the lastTransactionTime of old
// statuses. It returns false if there is neither.
func Transition(entry map[string]any) (time.Time, bool) {
	if at, ok := ParseTime(entry[LastTransitionTime]); ok {
		return at, true
	}
	return ParseTime(entry[LastTransactionTime])
}

func orEpoch(entry map[string]any) time.Time {
	if at, ok := Transition(entry); ok {
		return at
	}
	return time.Unix(0, 0)
}
