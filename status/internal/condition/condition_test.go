package condition_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operkit/operkit/status/internal/condition"
)

func TestParseTime(t *testing.T) {
	t.Parallel()
	want := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	meta := metav1.NewTime(want)
	for _, c := range []struct {
		reason string
		value  any
		want   time.Time
		ok     bool
	}{
		{"RFC 3339", "2024-05-06T07:08:09Z", want, true},
		{"another zone is the same moment", "2024-05-06T09:08:09+02:00", want, true},
		{"status W16: without a zone it is UTC", "2024-05-06T07:08:09", want, true},
		{"status W1: oper8's microseconds without a zone", "2024-05-06T07:08:09.000000", want, true},
		{"Python's str(datetime)", "2024-05-06 07:08:09", want, true},
		{"Python's str(datetime) with a zone", "2024-05-06 07:08:09+00:00", want, true},
		{"a date alone", "2024-05-06", time.Date(2024, 5, 6, 0, 0, 0, 0, time.UTC), true},
		{"status 19: already parsed", want, want, true},
		{"status 19: already parsed by Kubernetes", meta, want, true},
		{"status 19: already parsed, by pointer", &meta, want, true},
		{"unreadable is missing", "garbage of some length", time.Time{}, false},
		{"too short is missing", "12:00", time.Time{}, false},
		{"null is missing", nil, time.Time{}, false},
		{"a nil pointer is missing", (*metav1.Time)(nil), time.Time{}, false},
		{"a number is missing", int64(17), time.Time{}, false},
		{"the zero time is missing", "0001-01-01T00:00:00Z", time.Time{}, false},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			got, ok := condition.ParseTime(c.value)
			assert.Equal(t, c.ok, ok)
			assert.True(t, c.want.Equal(got), "%v", got)
		})
	}
}

func TestInteger(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		value  any
		want   int64
		ok     bool
	}{
		{"int64 as Kubernetes decodes it", int64(3), 3, true},
		{"integral float64 as encoding/json decodes it", 3.0, 3, true},
		{"negative", -3.0, -3, true},
		{"int of a document made by hand", 3, 3, true},
		{"int32 of a document made by hand", int32(3), 3, true},
		{"the smallest int64 is exact as float64", float64(math.MinInt64), math.MinInt64, true},
		{"2^63 doesn't fit", float64(math.MaxInt64), 0, false},
		{"a fraction is no integer", 3.5, 0, false},
		{"infinity is no integer", math.Inf(1), 0, false},
		{"not a number", math.NaN(), 0, false},
		{"json.Number", json.Number("3"), 3, true},
		{"json.Number with a zero fraction", json.Number("3.0"), 3, true},
		{"json.Number with a fraction", json.Number("3.5"), 0, false},
		{"json.Number that is none", json.Number("x"), 0, false},
		{"int8", int8(-3), -3, true}, {"int16", int16(-3), -3, true},
		{"uint", uint(3), 3, true}, {"uint8", uint8(3), 3, true}, {"uint16", uint16(3), 3, true}, {"uint32", uint32(3), 3, true}, {"uint64", uint64(3), 3, true},
		{"uint64 that doesn't fit", uint64(math.MaxUint64), 0, false},
		{"text is no integer", "3", 0, false},
		{"null", nil, 0, false},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			got, ok := condition.Integer(c.value)
			assert.Equal(t, c.ok, ok)
			assert.Equal(t, c.want, got)
		})
	}
}

func TestNewest(t *testing.T) {
	t.Parallel()
	entry := func(at any) map[string]any {
		return map[string]any{"type": "A", "lastTransitionTime": at}
	}
	other := map[string]any{"type": "B"}
	for _, c := range []struct {
		reason string
		list   []any
		index  int
		count  int
	}{
		{"none", []any{other}, -1, 0},
		{"an empty list", nil, -1, 0},
		{"one", []any{other, entry("2024-01-01T00:00:00Z")}, 1, 1},
		{"status 19: the newest decides", []any{entry("2024-01-01T00:00:00Z"), entry("2024-02-01T00:00:00Z"), entry("2024-01-15T00:00:00Z")}, 1, 3},
		{"status 19: the first of equals", []any{other, entry("2024-01-01T00:00:00Z"), entry("2024-01-01T00:00:00Z")}, 1, 2},
		{"status 19: a missing time is the epoch", []any{entry(nil), entry("1970-01-02T00:00:00Z")}, 1, 2},
		{"status 19: older than the epoch loses to a missing time", []any{entry("1969-01-01T00:00:00Z"), entry(nil)}, 1, 2},
		{"unreadable is missing", []any{entry("garbage, really"), entry("2024-01-01T00:00:00Z")}, 1, 2},
		{"status W16: zone-less beside a zone", []any{entry("2024-01-01T00:00:00"), entry("2024-01-01T00:00:00+01:00")}, 0, 2},
		{"elements that are no maps", []any{nil, "A", []any{}, entry(nil)}, 3, 1},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			index, count := condition.Newest(c.list, "A")
			assert.Equal(t, c.index, index)
			assert.Equal(t, c.count, count)
		})
	}
	t.Run("the empty type is never there", func(t *testing.T) {
		t.Parallel()
		index, count := condition.Newest([]any{map[string]any{}}, "")
		assert.Equal(t, -1, index)
		assert.Zero(t, count)
	})
	t.Run("status W1: the old key dates where the new one is missing", func(t *testing.T) {
		t.Parallel()
		list := []any{entry("2024-01-01T00:00:00Z"), map[string]any{"type": "A", "lastTransactionTime": "2024-06-01T00:00:00.123456"}}
		index, _ := condition.Newest(list, "A")
		assert.Equal(t, 1, index)
	})
}

func TestStatusOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		status any
		want   metav1.ConditionStatus
	}{
		{"True", "True", metav1.ConditionTrue},
		{"status 20: without case", "true", metav1.ConditionTrue},
		{"status 20: without case, false", "FALSE", metav1.ConditionFalse},
		{"status 20: a boolean true", true, metav1.ConditionTrue},
		{"status W16: a boolean false is false", false, metav1.ConditionFalse},
		{"status 20: other texts", "Yes", metav1.ConditionUnknown},
		{"status 20: missing", nil, metav1.ConditionUnknown},
		{"a number", int64(1), metav1.ConditionUnknown},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, condition.StatusOf(map[string]any{"status": c.status}))
		})
	}
}
