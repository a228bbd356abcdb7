package status_test

import (
	"encoding/json"
	"maps"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/status"
)

var valuesTime = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

func parsed(t *testing.T, text string) (m map[string]any) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(text), &m))
	return m
}

func TestValues(t *testing.T) {
	t.Parallel()
	type set struct {
		path  string
		value any
	}
	type endpoint struct {
		Host string  `json:"host"`
		Port *int32  `json:"port"`
		Note *string `json:"note,omitempty"`
	}
	for _, row := range []struct {
		reason       string
		before, want string
		sets         []set
	}{
		{"values 1: a new field", `{"phase":"old"}`, `{"phase":"old","endpoint":"db:5432"}`, []set{{"endpoint", "db:5432"}}},
		{"values 1: maps on the way are made", `{}`, `{"database":{"endpoint":"db"}}`, []set{{"database.endpoint", "db"}}},
		{"values 1: neighbours stay", `{"database":{"size":1}}`, `{"database":{"size":1,"endpoint":"db"}}`, []set{{"database.endpoint", "db"}}},
		{"values 1: null removes", `{"database":{"endpoint":"db"}}`, `{"database":{}}`, []set{{"database.endpoint", nil}}},
		{"values 1: a typed null, too", `{"endpoint":"db"}`, `{}`, []set{{"endpoint", (*string)(nil)}}},
		{"values 1: nothing to remove: no map is made", `{"a":"text"}`, `{"a":"text"}`, []set{{"database.endpoint", nil}, {"a.b", nil}}},
		{"values 1: the last call counts", `{}`, `{"n":2}`, []set{{"n", 1}, {"n", 2}}},
		{"values 1: a later call replaces what is inside", `{}`, `{"a":{"c":1}}`, []set{{"a.b", 1}, {"a", map[string]int{"c": 1}}}},
		{"values 1: a later call inside adds", `{}`, `{"a":{"b":1,"c":1}}`, []set{{"a", map[string]int{"c": 1}}, {"a.b", 1}}},
		{"values 1: a later call inside of a removed one", `{"a":{"x":1}}`, `{"a":{"b":1}}`, []set{{"a", nil}, {"a.b", 1}}},
		{"values 1: what is no map gives way", `{"a":"text"}`, `{"a":{"b":1}}`, []set{{"a.b", 1}}},
		{"values 1: a struct, by its JSON; a null inside is absent", `{}`, `{"e":{"host":"db"}}`, []set{{"e", endpoint{Host: "db"}}}},
		{"values 1: a list keeps its nulls", `{}`, `{"l":[null,{}]}`, []set{{"l", []any{nil, map[string]any{"x": nil}}}}},
		{"values 1: beside fields of the framework", `{"versions":{"reconciled":"1"}}`, `{"versions":{"reconciled":"1","mine":"2"}}`, []set{{"versions.mine", "2"}}},
		{"values 1: a text that isn't UTF-8 is stored as the cluster would", `{}`, `{"t":"a\ufffdb"}`, []set{{"t", "a\xffb"}}},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			var values status.Values
			for _, one := range row.sets {
				require.NoError(t, values.Set(one.path, one.value))
			}
			before := parsed(t, row.before)
			for _, onlyReady := range []bool{false, true} {
				application := status.Application{Values: values, OnlyReady: onlyReady}
				next, _, err := application.Update(valuesTime, before)
				require.NoError(t, err)
				want := parsed(t, row.want)
				if versions, ok := want["versions"].(map[string]any); ok && onlyReady {
					delete(versions, "reconciled")
				}
				shown := maps.Clone(next)
				delete(shown, "conditions")
				text, err := json.Marshal(shown)
				require.NoError(t, err)
				wantText, err := json.Marshal(want)
				require.NoError(t, err)
				assert.JSONEq(t, string(wantText), string(text))
				assert.Equal(t, parsed(t, row.before), before, "the input isn't changed")
				again, changed, err := application.Update(valuesTime, next)
				require.NoError(t, err)
				assert.False(t, changed, "nothing changes twice: %v", again)
			}
		})
	}
}

func TestValuesRefused(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason, path string
		value        any
		want         string
	}{
		{"values 2: no path", "", 1, `status field "": invalid path: use names with dots between them`},
		{"values 2: an empty name", "a..b", 1, `status field "a..b": invalid path`},
		{"values 2: a leading dot", ".a", 1, `status field ".a": invalid path`},
		{"values 2: the conditions", "conditions", []any{}, "status field conditions: invalid path: conditions is written by operkit itself: choose another field"},
		{"values 2: inside a field of the framework", "componentStatus.deployed", "1/1", "componentStatus is written by operkit itself"},
		{"values 2: around one", "versions", map[string]any{}, "versions.reconciled is written by operkit itself"},
		{"values 2: its own version", "versions.reconciled", "1", "versions.reconciled is written by operkit itself"},
		{"values 2: a function", "f", func() {}, "status field f: invalid value: json: unsupported type: func()"},
		{"values 2: no number", "n", math.NaN(), "status field n: invalid value"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			var values status.Values
			require.NoError(t, values.Set("kept", 1))
			err := values.Set(row.path, row.value)
			require.ErrorIs(t, err, status.ErrInvalid)
			assert.ErrorContains(t, err, row.want)
			assert.Equal(t, []string{"kept"}, values.Paths())
		})
	}
}

func TestValuesAreCopies(t *testing.T) {
	t.Parallel()
	given := map[string]any{"a": []any{"b"}}
	var values status.Values
	assert.Empty(t, values.Paths())
	require.NoError(t, values.Set("given", given))
	clone := values.Clone()
	require.NoError(t, values.Set("later", 1))
	given["a"].([]any)[0] = "changed"
	next, _, err := status.Application{Values: clone}.Update(valuesTime, nil)
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"a": []any{"b"}}, next["given"])
	assert.NotContains(t, next, "later")
	next["given"].(map[string]any)["a"] = "changed"
	next, _, err = status.Application{Values: clone}.Update(valuesTime, nil)
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"a": []any{"b"}}, next["given"], "a status shares nothing with the values")
}
