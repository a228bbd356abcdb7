package deploy

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func sumOf(t testing.TB, content map[string]any) string {
	t.Helper()
	sum, err := hashIntent(content)
	require.NoError(t, err)
	return sum
}

func TestHashIntent(t *testing.T) {
	t.Parallel()
	type m = map[string]any
	type l = []any
	for name, test := range map[string]struct {
		a, b m
		same bool
	}{
		"nothing":                         {m{}, nil, true},
		"integers of any type":            {m{"a": 1}, m{"a": int64(1)}, true},
		"an integer as int32":             {m{"a": int32(-1)}, m{"a": int64(-1)}, true},
		"an integer as float64":           {m{"a": 3.0}, m{"a": int64(3)}, true},
		"zeros of both signs":             {m{"a": 0.0}, m{"a": negativeZero()}, true},
		"keys in any order":               {m{"a": 1, "b": 2, "c": 3}, m{"c": 3, "b": 2, "a": 1}, true},
		"a fraction":                      {m{"a": 1.5}, m{"a": 1}, false},
		"a number and its text":           {m{"a": 1}, m{"a": "1"}, false},
		"a boolean and a number":          {m{"a": true}, m{"a": 1}, false},
		"false and nothing":               {m{"a": false}, m{"a": nil}, false},
		"null and absence":                {m{"a": nil}, m{}, false},
		"an empty map and an empty list":  {m{"a": m{}}, m{"a": l{}}, false},
		"an empty text and null":          {m{"a": ""}, m{"a": nil}, false},
		"a list in another order":         {m{"a": l{1, 2}}, m{"a": l{2, 1}}, false},
		"a list cut otherwise":            {m{"a": l{l{1}, 2}}, m{"a": l{l{1, 2}}}, false},
		"text cut otherwise":              {m{"a": l{"ab", "c"}}, m{"a": l{"a", "bc"}}, false},
		"a key that slips into the value": {m{"a": "bc"}, m{"ab": "c"}, false},
		"a level more":                    {m{"a": m{"b": 1}}, m{"a": 1, "b": 1}, false},
		"floats too large for integers":   {m{"a": 1e300}, m{"a": 1e301}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.same, sumOf(t, test.a) == sumOf(t, test.b))
		})
	}
	t.Run("it is the same in every process and release", func(t *testing.T) {
		t.Parallel()
		intent := m{"apiVersion": "v1", "data": m{"a": "1", "b": l{1, 2.5, true, nil}}}
		assert.Equal(t, "5TsBwsIuwSzNShiy3jQZMy7y", sumOf(t, intent))
	})
	t.Run("what is no JSON is named", func(t *testing.T) {
		t.Parallel()
		_, err := hashIntent(m{"a": l{1, m{"b": []string{}}}})
		require.EqualError(t, err, ".a[1].b: []string is not a JSON value")
	})
}

func negativeZero() float64 { zero := 0.0; return -zero }

// FuzzHashIntent compares the hash with the equality of structures.
func FuzzHashIntent(f *testing.F) {
	f.Add(`{"a":1}`, `{"a":1.0}`)
	f.Add(`{"a":[1,"x",null]}`, `{"a":[1,"x"]}`)
	f.Add(`{"a":{"b":true},"c":""}`, `{"c":"","a":{"b":true}}`)
	f.Add(`{"a":9007199254740993}`, `{"a":9007199254740992}`)
	f.Fuzz(func(t *testing.T, first, second string) {
		var a, b map[string]any
		if json.Unmarshal([]byte(first), &a) != nil || json.Unmarshal([]byte(second), &b) != nil {
			return
		}
		sumA, sumB := sumOf(t, a), sumOf(t, b)
		if len(a) == 0 && len(b) == 0 {
			a, b = nil, nil
		}
		if reflect.DeepEqual(a, b) != (sumA == sumB) {
			t.Fatalf("%s is %s, %s is %s", first, sumA, second, sumB)
		}
		again, err := json.Marshal(a)
		require.NoError(t, err)
		var copied map[string]any
		require.NoError(t, json.Unmarshal(again, &copied))
		require.Equal(t, sumA, sumOf(t, copied))
	})
}
