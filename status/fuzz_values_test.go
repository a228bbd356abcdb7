package status_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/status"
)

// FuzzValues sets a field of whatever JSON object there is: it is found under its path afterwards, other fields stay,
// no input is mutated, and the second update has nothing to do.
func FuzzValues(f *testing.F) {
	for _, path := range []string{"a", "a.b", "a.b.c", "versions.mine", "conditions", "", "."} {
		f.Add([]byte(`{"a":{"b":{"c":1}},"x":"y"}`), path, []byte(`{"value":{"n":null,"l":[1,1.5,null]}}`))
		f.Add([]byte(`{"a":"text"}`), path, []byte(`{"value":null}`))
	}
	f.Fuzz(func(t *testing.T, data []byte, path string, given []byte) {
		current, ok := decode(data, false)
		wrapped, isMap := decode(given, false)
		if !ok || !isMap {
			return
		}
		var values status.Values
		if err := values.Set(path, wrapped["value"]); err != nil {
			require.ErrorIs(t, err, status.ErrInvalid)
			require.Empty(t, values.Paths())
			return
		}
		before := text(t, current)
		a := status.Application{Values: values, Warn: func(string) {}}
		next, _, err := a.Update(now, current)
		require.NoError(t, err)
		require.Equal(t, before, text(t, current))

		var found any = next
		for name := range strings.SplitSeq(path, ".") {
			inside, _ := found.(map[string]any)
			found = inside[name]
		}
		require.Equal(t, wrapped["value"] == nil, found == nil)
		again, changed, err := a.Update(now, next)
		require.NoError(t, err)
		require.False(t, changed, "%v, then %v", next, again)
		for key, value := range current {
			if key != "conditions" && key != strings.Split(path, ".")[0] {
				require.Equal(t, text(t, map[string]any{"v": value}), text(t, map[string]any{"v": next[key]}))
			}
		}
	})
}
