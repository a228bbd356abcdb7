package smp

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMerge(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ doc, patch, want string }{
		// The examples of RFC 7386, appendix A.
		"a field is replaced":              {`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		"a field is added":                 {`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		"a field is deleted":               {`{"a":"b"}`, `{"a":null}`, `{}`},
		"one of two fields is deleted":     {`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		"a list is replaced by a scalar":   {`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		"a scalar is replaced by a list":   {`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
		"objects merge":                    {`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		"lists of objects are replaced":    {`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
		"a list document is replaced":      {`["a","b"]`, `["c","d"]`, `["c","d"]`},
		"an object is replaced by a list":  {`{"a":"b"}`, `["c"]`, `["c"]`},
		"the document is replaced by null": {`{"a":"foo"}`, `null`, `null`},
		"the document is replaced by text": {`{"a":"foo"}`, `"bar"`, `"bar"`},
		"a null that stays":                {`{"e":null}`, `{"a":1}`, `{"e":null,"a":1}`},
		"a list becomes an object":         {`[1,2]`, `{"a":"b","c":null}`, `{"a":"b"}`},
		"nulls in what is new are dropped": {`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
		// Beyond.
		"nulls in lists stay":                  {`{}`, `{"a":[null,{"b":null}]}`, `{"a":[null,{"b":null}]}`},
		"deleting what isn't there":            {`{"a":1}`, `{"b":null,"c":{"d":null}}`, `{"a":1,"c":{}}`},
		"a scalar becomes an object":           {`{"a":1}`, `{"a":{"b":null,"c":2}}`, `{"a":{"c":2}}`},
		"an empty patch":                       {`{"a":{"b":1}}`, `{}`, `{"a":{"b":1}}`},
		"numbers stay exact":                   {`{"a":9007199254740993,"b":12345678901234567890123}`, `{"c":9007199254740995}`, `{"a":9007199254740993,"b":12345678901234567890123,"c":9007199254740995}`},
		"directives mean nothing":              {`{"a":{"b":1}}`, `{"a":{"$patch":"replace"}}`, `{"a":{"b":1,"$patch":"replace"}}`},
		"smp 27: metadata beside the identity": {meta(`{"name":"n"}`), `{"metadata":{"labels":{"a":"b"}}}`, meta(`{"name":"n","labels":{"a":"b"}}`)},
		"smp 27: the same identity":            {meta(`{"name":"n"}`), `{"apiVersion":"v1","metadata":{"name":"n"}}`, meta(`{"name":"n"}`)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachWay(t, row.doc, row.patch, Merge, JSONText.Merge, func(t *testing.T, got any, err error) {
				t.Helper()
				require.NoError(t, err)
				assertSame(t, parse(t, row.want), got)
			})
		})
	}
}

func TestMergeKeepsIdentity(t *testing.T) {
	t.Parallel()
	doc := meta(`{"name":"a","namespace":"n"}`)
	for name, row := range map[string]struct{ patch, path string }{
		"smp 27: the name":          {`{"metadata":{"name":"b"}}`, "/metadata/name"},
		"smp 27: the namespace":     {`{"metadata":{"namespace":null}}`, "/metadata/namespace"},
		"smp 27: the kind":          {`{"kind":"Secret"}`, "/kind"},
		"smp 27: the apiVersion":    {`{"apiVersion":"v2"}`, "/apiVersion"},
		"smp 27: the metadata":      {`{"metadata":null}`, "/metadata/name"},
		"smp 27: the object itself": {`[]`, "/apiVersion"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachWay(t, doc, row.patch, Merge, JSONText.Merge, func(t *testing.T, _ any, err error) {
				t.Helper()
				var patchError *PatchError
				require.ErrorAs(t, err, &patchError)
				assert.Equal(t, PatchError{Patch: "mine", Resource: "ConfigMap n/a", Path: row.path, Kind: Identity, Err: patchError.Err}, *patchError)
			}, Named("mine"))
			_, err := Merge(parse(t, doc), parse(t, row.patch), AllowIdentityChange())
			require.NoError(t, err)
		})
	}
}

func TestBadInputOfMerge(t *testing.T) {
	t.Parallel()
	cyclic := map[string]any{}
	cyclic["a"] = cyclic
	for name, row := range map[string]struct {
		value any
		kind  ErrorKind
		path  string
	}{
		"cyclic data":  {cyclic, Limit, "/x/a/a/a/a/a/a/a"},
		"depth 10 000": {nest(10_000), Limit, "/x/a/a/a/a/a/a/a"},
		"NaN":          {[]any{math.NaN()}, Document, "/x/0"},
		"a Go map":     {map[string]string{}, Document, "/x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bad := map[string]any{"x": row.value}
			check := func(got any, err error) {
				t.Helper()
				var patchError *PatchError
				require.ErrorAs(t, err, &patchError)
				require.Nil(t, got)
				require.Equal(t, row.kind, patchError.Kind)
				require.Equal(t, row.path, patchError.Path)
			}
			check(Merge(map[string]any{}, bad))
			check(Merge(map[string]any{}, bad, Shared()))
			check(Merge(bad, map[string]any{"y": 1}))
			got, err := Merge(bad, map[string]any{"x": 1})
			require.NoError(t, err, "what is replaced isn't looked at")
			require.Equal(t, map[string]any{"x": int64(1)}, got)
			got, err = Merge(bad, map[string]any{"y": 1}, Shared())
			require.NoError(t, err, "shared it isn't looked at")
			require.Equal(t, int64(1), got.(map[string]any)["y"])
		})
	}
	t.Run("nil", func(t *testing.T) {
		t.Parallel()
		got, err := Merge(nil, nil)
		require.NoError(t, err)
		require.Nil(t, got)
		got, err = Merge(nil, map[string]any{"a": nil})
		require.NoError(t, err)
		require.Equal(t, map[string]any{}, got)
		got, err = Merge(map[string]any{"a": 1}, map[string]any(nil))
		require.NoError(t, err)
		require.Equal(t, map[string]any{"a": int64(1)}, got)
	})
}

func TestSharedMerge(t *testing.T) {
	t.Parallel()
	doc := object(t, `{"a":{"b":{}},"c":{}}`)
	patch := object(t, `{"a":{"x":[{}]}}`)
	got, err := Merge(doc, patch, Shared())
	require.NoError(t, err)
	require.Equal(t, object(t, `{"a":{"b":{}},"c":{}}`), doc)
	doc["c"].(map[string]any)["mark"] = true
	doc["a"].(map[string]any)["b"].(map[string]any)["mark"] = true
	patch["a"].(map[string]any)["x"].([]any)[0].(map[string]any)["mark"] = true
	require.Equal(t, object(t, `{"a":{"b":{"mark":true},"x":[{"mark":true}]},"c":{"mark":true}}`), got)
}
