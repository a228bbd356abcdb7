package document

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestScalar(t *testing.T) {
	t.Parallel()
	for _, same := range [][]any{
		{int64(80), 80.0, json.Number("80"), json.Number("8e1"), json.Number("80.00"), int32(80), uint8(80), float32(80)},
		{"80"},
		{true},
		{false},
		{0.5, json.Number("0.50"), json.Number("5e-1"), float32(0.5)},
		{json.Number("18446744073709551615"), json.Number("18446744073709551615.0"), uint64(math.MaxUint64)},
		{json.Number("-18446744073709551615")},
		{int64(0), 0.0, math.Copysign(0, -1), json.Number("-0")},
	} {
		first, ok := Scalar(same[0])
		assert.True(t, ok, same[0])
		for _, value := range same {
			scalar, ok := Scalar(value)
			assert.True(t, ok, value)
			assert.True(t, scalar == first, "%v (%T) is %v (%T), not %v (%T)", value, value, scalar, scalar, first, first)
			assert.True(t, Equal(value, same[0]), "%v and %v", value, same[0])
		}
	}
	for _, value := range []any{nil, map[string]any{}, []any{}, math.NaN(), math.Inf(1), json.Number("x"), struct{}{}} {
		scalar, ok := Scalar(value)
		assert.False(t, ok, value)
		assert.True(t, scalar == nil || !ok)
	}
	large, _ := Scalar(json.Number("18446744073709551615"))
	other, _ := Scalar(json.Number("18446744073709551614"))
	assert.NotEqual(t, large, other)
}
