package plain_test

import (
	"math"
	"testing"

	"github.com/operkit/operkit/reconcile/internal/plain"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMap(t *testing.T) {
	t.Parallel()
	content := map[string]any{"a": "x", "b": true, "c": nil, "d": int64(1), "e": 1.5, "f": []any{map[string]any{"g": "y"}}}
	same, err := plain.Map(content)
	require.NoError(t, err)
	same["mark"] = "it is the same map"
	assert.Contains(t, content, "mark")

	given := map[string]any{"n": 3, "labels": map[string]string{"a": "b"}, "list": []any{[]int{1}}}
	copied, err := plain.Map(given)
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"n": int64(3), "labels": map[string]any{"a": "b"}, "list": []any{[]any{int64(1)}}}, copied)
	assert.Equal(t, 3, given["n"], "what was given isn't changed")

	for reason, value := range map[string]any{"a channel": make(chan int), "not a number": []any{float32(math.NaN())}} {
		_, err := plain.Map(map[string]any{"x": value})
		assert.Error(t, err, reason)
	}
}
