package deploy

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apijson "k8s.io/apimachinery/pkg/util/json"
)

// What is JSON already is what a way through JSON makes of it.
func TestIsJSON(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		value any
		want  bool
	}{
		"text, truth and whole numbers":           {map[string]any{"a": "x", "b": true, "c": int64(1)}, true},
		"nothing":                                 {map[string]any{}, true},
		"what is nested":                          {map[string]any{"a": map[string]any{"b": []any{"x", map[string]any{}, []any{}}}}, true},
		"a null in a list, which keeps its place": {map[string]any{"a": []any{nil}}, true},
		"a null, which is left out":               {map[string]any{"a": nil}, false},
		"a null below a list":                     {map[string]any{"a": []any{map[string]any{"b": nil}}}, false},
		"a map that is nil":                       {map[string]any{"a": map[string]any(nil)}, false},
		"a list that is nil":                      {map[string]any{"a": []any(nil)}, false},
		"a fraction, which may be whole":          {map[string]any{"a": 1.0}, false},
		"another whole number":                    {map[string]any{"a": 1}, false},
		"another map":                             {map[string]any{"a": map[string]string{}}, false},
	} {
		assert.Equal(t, row.want, isJSON(row.value), reason)
		if !row.want {
			continue
		}
		text, err := json.Marshal(row.value)
		require.NoError(t, err, reason)
		var read map[string]any
		require.NoError(t, apijson.Unmarshal(text, &read), reason)
		assert.Equal(t, row.value, read, reason)
	}
}
