package deploy

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func plainJSON(t testing.TB, text string) any {
	t.Helper()
	var value any
	require.NoError(t, json.Unmarshal([]byte(text), &value))
	return value
}

func TestFieldSetOf(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct{ fields, value, want string }{
		"a leaf with all that is in it":     {`{"f:a": {}}`, `{"a": {"b": 1}, "c": 2}`, `{"a": {"b": 1}}`},
		"one field of a map":                {`{"f:a": {"f:b": {}}}`, `{"a": {"b": 1, "c": 2}}`, `{"a": {"b": 1}}`},
		"a map alone":                       {`{"f:a": {".": {}}}`, `{"a": {"b": 1}}`, `{"a": {}}`},
		"an item keeps its key":             {`{"f:l": {"k:{\"n\":\"x\"}": {"f:v": {}}}}`, `{"l": [{"n": "y", "v": 1}, {"n": "x", "v": 2, "w": 3}]}`, `{"l": [{"n": "x", "v": 2}]}`},
		"the values of a set":               {`{"f:l": {"v:\"a\"": {}}}`, `{"l": ["b", "a"]}`, `{"l": ["a"]}`},
		"what isn't there isn't made":       {`{"f:a": {"f:b": {}}}`, `{"c": 1}`, `{}`},
		"a scalar where a map was believed": {`{"f:a": {"f:b": {}}}`, `{"a": 1}`, `{"a": 1}`},
	} {
		fields, _ := plainJSON(t, row.fields).(map[string]any)
		assert.Equal(t, plainJSON(t, row.want), fieldSet(fields).of(plainJSON(t, row.value)), reason)
	}
}

func TestFieldSetWith(t *testing.T) {
	t.Parallel()
	before := fieldSet{"f:a": map[string]any{"f:b": map[string]any{}}}
	after := before.with([]string{"f:a", "f:c", "f:d"}).with([]string{"f:e"})
	assert.Equal(t, fieldSet{"f:a": map[string]any{"f:b": map[string]any{}}}, before, "it isn't changed")
	assert.Equal(t, fieldSet{"f:a": map[string]any{"f:b": map[string]any{}, "f:c": map[string]any{"f:d": map[string]any{}}}, "f:e": map[string]any{}}, after)
}

func TestFieldSetExceeds(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		fields, value string
		want          bool
	}{
		"all is there":           {`{"f:a": {"f:b": {}}}`, `{"a": {"b": 1}}`, false},
		"a field is missing":     {`{"f:a": {"f:b": {}, "f:c": {}}}`, `{"a": {"b": 1}}`, true},
		"an item is missing":     {`{"k:{\"n\":1}": {}, "k:{\"n\":2}": {}}`, `[{"n": 1}]`, true},
		"a field of an item is":  {`{"k:{\"n\":1}": {"f:v": {}}}`, `[{"n": 1}]`, true},
		"the value of a set is":  {`{"v:\"a\"": {}}`, `["b"]`, true},
		"the value of a set":     {`{"v:\"a\"": {}}`, `["b", "a"]`, false},
		"a map and nothing else": {`{".": {}}`, `{}`, false},
	} {
		fields, _ := plainJSON(t, row.fields).(map[string]any)
		assert.Equal(t, row.want, fieldSet(fields).exceeds(plainJSON(t, row.value)), reason)
	}
}

func TestFieldSteps(t *testing.T) {
	t.Parallel()
	for path, want := range map[string][]any{
		"":                          nil,
		"spec":                      {"spec"},
		"spec.volumes[0].configMap": {"spec", "volumes", 0, "configMap"},
		"spec.selector[a.b/c]":      {"spec", "selector", "a.b/c"},
		"metadata.annotations[a].b": {"metadata", "annotations", "a", "b"},
		"a[0][1].b":                 {"a", 0, 1, "b"},
		"a[unclosed":                {"a", "[unclosed"},
		"spec.ports[0].nodePort":    {"spec", "ports", 0, "nodePort"},
		"data[-1]":                  {"data", "-1"},
	} {
		assert.Equal(t, want, fieldSteps(path), path)
	}
}

func FuzzFieldSteps(f *testing.F) {
	for _, path := range []string{"spec.volumes[0].configMap", "a[", "]", "..", "[a.b]", "a[99999999999999999999]"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		content := map[string]any{"spec": map[string]any{"l": []any{map[string]any{"a": "b"}}}, "": ""}
		steps := fieldSteps(path)
		_, there := valueAt(content, steps)
		removePath(content, steps)
		keepAt(content, map[string]any{"spec": map[string]any{"l": []any{map[string]any{"c": "d"}}, "m": "n"}}, steps)
		if len(steps) > 0 && there {
			if _, isName := steps[len(steps)-1].(string); isName {
				_, still := valueAt(content, steps)
				_, kept := valueAt(map[string]any{"spec": map[string]any{"l": []any{map[string]any{"c": "d"}}, "m": "n"}}, steps)
				assert.Equal(t, kept, still, path)
			}
		}
	})
}

func TestQuotaExcessOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"x is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2":                                              true,
		"x is forbidden: exceeded quota: q, requested: requests.cpu=1,pods=1, used: requests.cpu=0,pods=2, limited: requests.cpu=1,pods=2": true,
		"x is forbidden: exceeded quota: q, requested: pods=much, used: pods=2, limited: pods=2":                                           false,
		"x is forbidden: failed quota: q: must specify cpu":                                                                                false,
		"x is forbidden by a policy": false,
	} {
		_, ok := quotaExcessOf(&ForbiddenError{Err: &InvalidManifestError{Reason: text}})
		assert.Equal(t, want, ok, text)
	}
	_, ok := quotaExcessOf(&InvalidError{Err: &InvalidManifestError{Reason: "exceeded quota: q, requested: a=1, used: a=1, limited: a=1"}})
	assert.False(t, ok, "another kind of refusal")
}

func TestFieldSetNullUnwanted(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct{ ours, others, content, want string }{
		"what isn't wanted any more":      {`{"f:a": {}, "f:b": {}}`, `{}`, `{"a": 1}`, `{"a": 1, "b": null}`},
		"below a map":                     {`{"f:a": {"f:b": {}}}`, `{}`, `{"a": {"c": 1}}`, `{"a": {"b": null, "c": 1}}`},
		"a map as a whole":                {`{"f:a": {"f:b": {}}}`, `{}`, `{}`, `{"a": null}`},
		"others have it too":              {`{"f:a": {"f:b": {}}}`, `{"f:a": {"f:b": {}}}`, `{"a": {}}`, `{"a": {}}`},
		"items go by the list they're in": {`{"f:a": {"k:{\"n\":1}": {}}}`, `{}`, `{"a": []}`, `{"a": []}`},
	} {
		ours, _ := plainJSON(t, row.ours).(map[string]any)
		others, _ := plainJSON(t, row.others).(map[string]any)
		content, _ := plainJSON(t, row.content).(map[string]any)
		fieldSet(ours).nullUnwanted(content, []fieldSet{others})
		assert.Equal(t, plainJSON(t, row.want), any(content), reason)
	}
}
