package deploy

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFingerprint(t *testing.T) {
	t.Parallel()
	base := func() map[string]any {
		return map[string]any{"a": int64(1), "b": []any{"x", "y"}, "c": map[string]any{"d": true, "e": nil}, "f": 1.5}
	}
	want, ok := fingerprint(base(), manifestDepth)
	require.True(t, ok)
	again, _ := fingerprint(base(), manifestDepth)
	assert.Equal(t, want, again, "equal content has equal numbers, in whatever order a map is walked")

	for name, change := range map[string]func(map[string]any){
		"another number":                func(m map[string]any) { m["a"] = int64(2) },
		"a number of another kind":      func(m map[string]any) { m["a"] = 1.0 },
		"a text for a number":           func(m map[string]any) { m["a"] = "1" },
		"a field less":                  func(m map[string]any) { delete(m, "f") },
		"null for absent":               func(m map[string]any) { m["g"] = nil },
		"an empty map for absent":       func(m map[string]any) { m["g"] = map[string]any{} },
		"another order of a list":       func(m map[string]any) { m["b"] = []any{"y", "x"} },
		"a longer list":                 func(m map[string]any) { m["b"] = []any{"x", "y", nil} },
		"texts cut elsewhere":           func(m map[string]any) { m["b"] = []any{"xy", ""} },
		"a list for an element":         func(m map[string]any) { m["b"] = []any{[]any{"x", "y"}} },
		"values swapped between fields": func(m map[string]any) { m["c"] = map[string]any{"d": nil, "e": true} },
		"a field one level up":          func(m map[string]any) { m["d"], m["c"] = true, map[string]any{"e": nil} },
		"false for null":                func(m map[string]any) { m["c"] = map[string]any{"d": true, "e": false} },
	} {
		changed := base()
		change(changed)
		got, ok := fingerprint(changed, manifestDepth)
		assert.True(t, ok && got != want, name)
	}

	loop := map[string]any{}
	loop["self"] = []any{loop}
	for name, value := range map[string]any{
		"a Go type that JSON doesn't know": map[string]any{"a": struct{}{}},
		"a typed list":                     []any{[]string{"a"}},
		"a map that contains itself":       loop,
	} {
		_, ok := fingerprint(value, manifestDepth)
		assert.False(t, ok, name)
	}
}

func TestFingerprintAllocatesNothing(t *testing.T) {
	value := map[string]any{"metadata": map[string]any{"labels": map[string]any{"app": "web"}}, "list": []any{int64(1), 2.5, nil, true}}
	assert.Zero(t, testing.AllocsPerRun(100, func() { fingerprint(value, manifestDepth) }))
}

// Two documents have one number exactly when they are equal.
func FuzzFingerprint(f *testing.F) {
	f.Add(`{"a":1,"b":["x"]}`, `{"b":["x"],"a":1}`)
	f.Add(`{"a":{"b":1}}`, `{"a":{"b":1,"c":null}}`)
	f.Add(`[[],[]]`, `[[[]]]`)
	f.Add(`{"a":0}`, `{"a":-0}`)
	f.Fuzz(func(t *testing.T, first, second string) {
		var a, b any
		if json.Unmarshal([]byte(first), &a) != nil || json.Unmarshal([]byte(second), &b) != nil {
			return
		}
		one, ok := fingerprint(a, math.MaxInt)
		require.True(t, ok)
		other, ok := fingerprint(b, math.MaxInt)
		require.True(t, ok)
		if one == other {
			assert.True(t, reflect.DeepEqual(a, b), "%v and %v", a, b)
		} else if reflect.DeepEqual(a, b) {
			x, _ := json.Marshal(a)
			y, _ := json.Marshal(b)
			assert.NotEqual(t, string(x), string(y), "only the sign of a zero may tell equal ones apart")
		}
	})
}
