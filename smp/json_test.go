package smp

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// eachWay runs a test of a function of two values detached, shared, and on texts.
func eachWay(t *testing.T, doc, patch string, on func(doc, patch any, opts ...Option) (any, error),
	onText func(doc, patch []byte, opts ...Option) ([]byte, error), check func(t *testing.T, got any, err error), opts ...Option,
) {
	t.Helper()
	for way, options := range map[string][]Option{"detached": opts, "shared": append([]Option{Shared()}, opts...)} {
		t.Run(way, func(t *testing.T) {
			document, patchValue := parse(t, doc), parse(t, patch)
			got, err := on(document, patchValue, options...)
			assert.Equal(t, parse(t, doc), document, "the document was changed")
			assert.Equal(t, parse(t, patch), patchValue, "the patch was changed")
			if err != nil {
				assert.Nil(t, got)
			}
			check(t, got, err)
		})
	}
	t.Run("texts", func(t *testing.T) {
		text, err := onText([]byte(doc), []byte(patch), opts...)
		if err != nil {
			assert.Nil(t, text)
			check(t, nil, err)
			return
		}
		check(t, parse(t, string(text)), nil)
	})
}

func TestJSON(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ doc, ops, want string }{
		"smp 30: add a field":                             {`{"a":1}`, `[{"op":"add","path":"/b","value":2}]`, `{"a":1,"b":2}`},
		"smp 30: add replaces a field":                    {`{"a":1}`, `[{"op":"add","path":"/a","value":[]}]`, `{"a":[]}`},
		"smp 30: add before an element":                   {`[1,3]`, `[{"op":"add","path":"/1","value":2}]`, `[1,2,3]`},
		"smp 30: add at the length appends":               {`[1]`, `[{"op":"add","path":"/1","value":2}]`, `[1,2]`},
		"smp 30: - appends":                               {`{"a":{"b":[1]}}`, `[{"op":"add","path":"/a/b/-","value":2}]`, `{"a":{"b":[1,2]}}`},
		"smp 30: - appends to an empty list":              {`[]`, `[{"op":"add","path":"/-","value":1},{"op":"add","path":"/0","value":0}]`, `[0,1]`},
		"smp 30: add null":                                {`{}`, `[{"op":"add","path":"/a","value":null}]`, `{"a":null}`},
		"smp 30: add at the root replaces all":            {`{"a":1}`, `[{"op":"add","path":"","value":[1]}]`, `[1]`},
		"smp 30: remove a field":                          {`{"a":1,"b":2}`, `[{"op":"remove","path":"/a"}]`, `{"b":2}`},
		"smp 30: remove a null":                           {`{"a":null}`, `[{"op":"remove","path":"/a"}]`, `{}`},
		"smp 30: remove elements one by one":              {`[1,2,3]`, `[{"op":"remove","path":"/0"},{"op":"remove","path":"/0"},{"op":"remove","path":"/0"}]`, `[]`},
		"smp 30: replace a field":                         {`{"a":{"b":1}}`, `[{"op":"replace","path":"/a/b","value":{"c":2}}]`, `{"a":{"b":{"c":2}}}`},
		"smp 30: replace an element":                      {`[1,2]`, `[{"op":"replace","path":"/1","value":3}]`, `[1,3]`},
		"smp 30: replace by null":                         {`{"a":1}`, `[{"op":"replace","path":"/a","value":null}]`, `{"a":null}`},
		"smp 30: replace the whole document":              {`{"a":1}`, `[{"op":"replace","path":"","value":null}]`, `null`},
		"smp 30: move a field":                            {`{"a":{"b":1}}`, `[{"op":"move","from":"/a/b","path":"/c"}]`, `{"a":{},"c":1}`},
		"smp 30: move onto a field":                       {`{"a":1,"b":2}`, `[{"op":"move","from":"/a","path":"/b"}]`, `{"b":1}`},
		"smp 30: move within a list":                      {`[1,2,3]`, `[{"op":"move","from":"/0","path":"/2"}]`, `[2,3,1]`},
		"smp 30: move to the end":                         {`[1,2,3]`, `[{"op":"move","from":"/0","path":"/-"}]`, `[2,3,1]`},
		"smp 30: move to where it is":                     {`{"a":[1]}`, `[{"op":"move","from":"/a/0","path":"/a/0"}]`, `{"a":[1]}`},
		"smp 30: move into what holds it":                 {`{"a":{"b":{"c":1}}}`, `[{"op":"move","from":"/a/b","path":"/a"}]`, `{"a":{"c":1}}`},
		"smp 30: move a part to the root":                 {`{"a":{"b":1}}`, `[{"op":"move","from":"/a","path":""}]`, `{"b":1}`},
		"smp 30: move beside what starts the same":        {`{"a":1}`, `[{"op":"move","from":"/a","path":"/ab"}]`, `{"ab":1}`},
		"smp 30: copy is a copy of its own":               {`{"a":{"b":1}}`, `[{"op":"copy","from":"/a","path":"/c"},{"op":"replace","path":"/c/b","value":2},{"op":"add","path":"/a/d","value":3}]`, `{"a":{"b":1,"d":3},"c":{"b":2}}`},
		"smp 30: copy into itself":                        {`{"a":{"b":1}}`, `[{"op":"copy","from":"","path":"/a/c"}]`, `{"a":{"b":1,"c":{"a":{"b":1}}}}`},
		"smp 30: copy of a list":                          {`{"a":[1]}`, `[{"op":"copy","from":"/a","path":"/b"},{"op":"add","path":"/b/-","value":2}]`, `{"a":[1],"b":[1,2]}`},
		"smp 30: a value is a value of its own":           {`{}`, `[{"op":"add","path":"/a","value":{"b":1}},{"op":"add","path":"/a/c","value":2}]`, `{"a":{"b":1,"c":2}}`},
		"smp 30: test passes":                             {`{"a":[{"b":null}]}`, `[{"op":"test","path":"/a","value":[{"b":null}]},{"op":"test","path":"","value":{"a":[{"b":null}]}}]`, `{"a":[{"b":null}]}`},
		"smp 29: test compares JSON values":               {`{"a":80,"b":80.0}`, `[{"op":"test","path":"/a","value":8e1},{"op":"test","path":"/b","value":80}]`, `{"a":80,"b":80}`},
		"smp 30: ~1 is a slash and ~0 a tilde":            {`{"a/b":1,"m~n":2,"~1":3}`, `[{"op":"replace","path":"/a~1b","value":4},{"op":"replace","path":"/m~0n","value":5},{"op":"replace","path":"/~01","value":6}]`, `{"a/b":4,"m~n":5,"~1":6}`},
		"smp 30: fields named like indices":               {`{"0":{"-":1}}`, `[{"op":"replace","path":"/0/-","value":2},{"op":"add","path":"/01","value":3}]`, `{"0":{"-":2},"01":3}`},
		"smp 30: empty names":                             {`{"":{"":1}}`, `[{"op":"replace","path":"//","value":2}]`, `{"":{"":2}}`},
		"smp 30: unknown members are ignored":             {`{}`, `[{"op":"add","path":"/a","value":1,"from":5,"why":"because"}]`, `{"a":1}`},
		"smp 30: an empty list is no patch":               {`{"a":1}`, `[]`, `{"a":1}`},
		"smp 30: null is no patch":                        {`{"a":1}`, `null`, `{"a":1}`},
		"smp 30: an empty object is no patch":             {`{"a":1}`, `{}`, `{"a":1}`},
		"smp 30: an empty text is no patch":               {`{"a":1}`, `""`, `{"a":1}`},
		"smp 30: numbers stay exact":                      {`{"a":9007199254740993,"b":12345678901234567890123}`, `[{"op":"move","from":"/a","path":"/c"}]`, `{"b":12345678901234567890123,"c":9007199254740993}`},
		"smp 30: what is changed again and again":         {`{"l":[[1],[2]]}`, `[{"op":"add","path":"/l/0/-","value":3},{"op":"add","path":"/l/0/-","value":4},{"op":"remove","path":"/l/1/0"},{"op":"add","path":"/l/1/-","value":5},{"op":"remove","path":"/l/0/0"},{"op":"move","from":"/l/0","path":"/l/1"},{"op":"replace","path":"/l/1/0","value":6}]`, `{"l":[[5],[6,4]]}`},
		"smp 30: what was moved is changed further":       {`{"a":{"b":{"c":1}},"d":{}}`, `[{"op":"add","path":"/a/b/e","value":1},{"op":"move","from":"/a/b","path":"/d/b"},{"op":"add","path":"/d/b/f","value":2},{"op":"copy","from":"/d/b","path":"/a/b"},{"op":"remove","path":"/d/b/c"}]`, `{"a":{"b":{"c":1,"e":1,"f":2}},"d":{"b":{"e":1,"f":2}}}`},
		"smp 27: metadata beside the identity":            {meta(`{"name":"n"}`), `[{"op":"add","path":"/metadata/labels","value":{"a":"b"}}]`, meta(`{"name":"n","labels":{"a":"b"}}`)},
		"smp 27: a document without kind has no identity": {`{"apiVersion":"v1","metadata":{"name":"a"}}`, `[{"op":"replace","path":"/metadata/name","value":"b"},{"op":"remove","path":"/apiVersion"}]`, `{"metadata":{"name":"b"}}`},
		"smp 27: what is changed back is unchanged":       {meta(`{"name":"n"}`), `[{"op":"replace","path":"/metadata/name","value":"m"},{"op":"replace","path":"/metadata/name","value":"n"}]`, meta(`{"name":"n"}`)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachWay(t, row.doc, row.ops, JSON, JSONText.JSON, func(t *testing.T, got any, err error) {
				t.Helper()
				require.NoError(t, err)
				assertSame(t, parse(t, row.want), got)
			})
		})
	}
}

func TestJSONErrors(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		doc, ops string
		kind     ErrorKind
		path     string
		says     string
	}{
		"smp 30: an object is no list":         {`{}`, `{"op":"add"}`, Invalid, "", "a JSON patch is a list of operations, not an object"},
		"smp 30: a text is no list":            {`{}`, `"a"`, Invalid, "", "not a string"},
		"smp 30: false is no list":             {`{}`, `false`, Invalid, "", "not a boolean"},
		"smp 30: an operation is an object":    {`{}`, `[[]]`, Invalid, "", "operation 0 is a list: want an object"},
		"smp 30: null is no operation":         {`{}`, `[null]`, Invalid, "", "operation 0 is null"},
		"no op":                                {`{}`, `[{"path":"/a","value":1}]`, Invalid, "", "operation 0: op is missing"},
		"an unknown op":                        {`{}`, `[{"op":"Add","path":"/a","value":1}]`, Invalid, "", "operation 0 (Add): unknown operation"},
		"no path":                              {`{}`, `[{"op":"add","value":1}]`, Invalid, "", "operation 0 (add): path is missing"},
		"a path that is no text":               {`{}`, `[{"op":"add","path":["a"],"value":1}]`, Invalid, "", "path is missing or isn't a string"},
		"a path without a slash":               {`{"a":1}`, `[{"op":"remove","path":"a"}]`, Pointer, "", `"a" is no JSON pointer`},
		"a path with a lone tilde":             {`{"~":1}`, `[{"op":"remove","path":"/~"}]`, Pointer, "", "write ~0 for a tilde"},
		"a path with an unknown escape":        {`{"~":1}`, `[{"op":"remove","path":"/a~2"}]`, Pointer, "", "write ~0 for a tilde"},
		"a source that is no pointer":          {`{"a":1}`, `[{"op":"move","from":"a","path":"/b"}]`, Pointer, "", `"a" is no JSON pointer`},
		"no value":                             {`{}`, `[{"op":"add","path":"/a"}]`, Invalid, "/a", "value is missing"},
		"no value to test":                     {`{"a":null}`, `[{"op":"test","path":"/a"}]`, Invalid, "/a", "value is missing"},
		"no value to replace":                  {`{"a":null}`, `[{"op":"replace","path":"/a"}]`, Invalid, "/a", "value is missing"},
		"no source":                            {`{}`, `[{"op":"copy","path":"/a"}]`, Invalid, "/a", "from is missing"},
		"removing what isn't there":            {`{}`, `[{"op":"remove","path":"/a"}]`, Conflict, "/a", `operation 0 (remove): the document has no "a" there`},
		"replacing what isn't there":           {`{}`, `[{"op":"replace","path":"/a","value":1}]`, Conflict, "/a", "has no"},
		"adding below what isn't there":        {`{}`, `[{"op":"add","path":"/a/b","value":1}]`, Conflict, "/a/b", `no "a"`},
		"adding below a scalar":                {`{"a":"text"}`, `[{"op":"add","path":"/a/b","value":1}]`, Conflict, "/a/b", `"b" is below a string`},
		"adding below a scalar document":       {`1`, `[{"op":"add","path":"/a","value":1}]`, Conflict, "/a", "is below a number"},
		"testing what isn't there":             {`{}`, `[{"op":"test","path":"/a","value":null}]`, Conflict, "/a", "has no"},
		"testing below a scalar":               {`{"a":1}`, `[{"op":"test","path":"/a/b","value":null}]`, Conflict, "/a/b", "is below a number"},
		"copying what isn't there":             {`{}`, `[{"op":"copy","from":"/a/b","path":"/c"}]`, Conflict, "/a/b", `no "a"`},
		"moving what isn't there":              {`[]`, `[{"op":"move","from":"/0","path":"/-"}]`, Conflict, "/0", "out of range"},
		"moving to where it isn't, from there": {`{}`, `[{"op":"move","from":"/a","path":"/a"}]`, Conflict, "/a", "has no"},
		"an index behind the end":              {`[1]`, `[{"op":"add","path":"/2","value":1}]`, Conflict, "/2", "the index 2 is out of range"},
		"an index that is the length":          {`[1]`, `[{"op":"replace","path":"/1","value":1}]`, Conflict, "/1", "out of range"},
		"an index beyond any integer":          {`[1]`, `[{"op":"remove","path":"/18446744073709551616"}]`, Conflict, "/18446744073709551616", "out of range"},
		"an index with a leading zero":         {`[1,2]`, `[{"op":"remove","path":"/01"}]`, Pointer, "/01", "without leading zeros"},
		"a negative index":                     {`[1,2]`, `[{"op":"remove","path":"/-1"}]`, Pointer, "/-1", `"-1" is no index`},
		"an index with a plus":                 {`[1,2]`, `[{"op":"remove","path":"/+1"}]`, Pointer, "/+1", "no index"},
		"an index with an exponent":            {`[1,2]`, `[{"op":"test","path":"/1e0","value":2}]`, Pointer, "/1e0", "no index"},
		"an empty index":                       {`[1,2]`, `[{"op":"remove","path":"/"}]`, Pointer, "/", "no index"},
		"an index of digits that aren't ASCII": {`[1,2]`, `[{"op":"remove","path":"/１"}]`, Pointer, "/１", "no index"},
		"a field of a list":                    {`[1]`, `[{"op":"add","path":"/a","value":1}]`, Pointer, "/a", `"a" is no index of a list`},
		"removing behind the end":              {`[1]`, `[{"op":"remove","path":"/-"}]`, Conflict, "/-", "nothing behind the end"},
		"testing behind the end":               {`[1]`, `[{"op":"test","path":"/-","value":1}]`, Conflict, "/-", "nothing behind the end"},
		"moving from behind the end":           {`[1]`, `[{"op":"move","from":"/-","path":"/0"}]`, Conflict, "/-", "nothing behind the end"},
		"adding below behind the end":          {`[{}]`, `[{"op":"add","path":"/-/a","value":1}]`, Conflict, "/-/a", "nothing behind the end"},
		"removing the document":                {`{}`, `[{"op":"remove","path":""}]`, Invalid, "", "the whole document can't be removed"},
		"moving into itself":                   {`{"a":{"b":1}}`, `[{"op":"move","from":"/a","path":"/a/c"}]`, Invalid, "/a/c", `"/a" can't be moved into itself`},
		"moving the document into itself":      {`{"a":1}`, `[{"op":"move","from":"","path":"/b"}]`, Invalid, "/b", "into itself"},
		"moving to a path that isn't there":    {`{"a":1}`, `[{"op":"move","from":"/a","path":"/b/c"}]`, Conflict, "/b/c", `no "b"`},
		"smp 30: a test fails":                 {`{"a":1}`, `[{"op":"test","path":"/a","value":2}]`, Test, "/a", "operation 0 (test): the document has a number with another value"},
		"smp 30: a test of another type":       {`{"a":"1"}`, `[{"op":"test","path":"/a","value":1}]`, Test, "/a", "want a number, the document has a string"},
		"smp 30: null isn't nothing":           {`{"a":{"b":null}}`, `[{"op":"test","path":"/a","value":{}}]`, Test, "/a", "an object with another value"},
		"smp 30: the third of three fails":     {`{"a":[1]}`, `[{"op":"add","path":"/a/-","value":2},{"op":"remove","path":"/a/0"},{"op":"test","path":"/a","value":[1]}]`, Test, "/a", "operation 2 (test)"},
		"smp 27: the name":                     {meta(`{"name":"a"}`), `[{"op":"replace","path":"/metadata/name","value":"b"}]`, Identity, "/metadata/name", `ConfigMap a: /metadata/name: the patch changes it from "a" to "b"`},
		"smp 27: the namespace":                {meta(`{"name":"a"}`), `[{"op":"add","path":"/metadata/namespace","value":"b"}]`, Identity, "/metadata/namespace", `nothing to "b"`},
		"smp 27: the kind":                     {meta(`{}`), `[{"op":"replace","path":"/kind","value":"Secret"}]`, Identity, "/kind", `"ConfigMap" to "Secret"`},
		"smp 27: the apiVersion, removed":      {meta(`{}`), `[{"op":"remove","path":"/apiVersion"}]`, Identity, "/apiVersion", `"v1" to nothing`},
		"smp 27: the metadata as a whole":      {meta(`{"name":"a"}`), `[{"op":"remove","path":"/metadata"}]`, Identity, "/metadata/name", `"a" to nothing`},
		"smp 27: the whole object":             {meta(`{"name":"a"}`), `[{"op":"replace","path":"","value":[]}]`, Identity, "/apiVersion", "to nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachWay(t, row.doc, row.ops, JSON, JSONText.JSON, func(t *testing.T, got any, err error) {
				t.Helper()
				var patchError *PatchError
				require.ErrorAs(t, err, &patchError)
				assert.Equal(t, row.kind, patchError.Kind, err)
				assert.Equal(t, row.path, patchError.Path, err)
				assert.ErrorContains(t, err, row.says)
				assert.ErrorContains(t, err, `patch "mine": `)
			}, Named("mine"))
			if row.kind == Identity {
				_, err := JSON(parse(t, row.doc), parse(t, row.ops), AllowIdentityChange())
				require.NoError(t, err)
			}
		})
	}
}

func TestJSONOfMaps(t *testing.T) {
	t.Parallel()
	got, err := JSON(map[string]any{}, []map[string]any{{"op": "add", "path": "/a", "value": 1}})
	require.NoError(t, err)
	require.Equal(t, map[string]any{"a": int64(1)}, got)
	for _, nothing := range []any{nil, "", []any{}, []any(nil), map[string]any{}, []map[string]any{}} {
		got, err := JSON(map[string]any{"a": int64(1)}, nothing)
		require.NoError(t, err)
		require.Equal(t, map[string]any{"a": int64(1)}, got)
	}
	_, err = JSON(nil, []map[string]any{{"op": "add", "path": "/a", "value": 1}})
	require.Equal(t, Conflict, KindOf(err))
	got, err = JSON(map[string]any(nil), []map[string]any{{"op": "add", "path": "/a", "value": 1}}, Shared())
	require.NoError(t, err)
	require.Equal(t, map[string]any{"a": int64(1)}, got, "a nil map is an empty one")
}

func TestBadInputOfJSON(t *testing.T) {
	t.Parallel()
	cyclic := map[string]any{}
	cyclic["a"] = cyclic
	adding := func(value any) []any {
		return []any{map[string]any{"op": "add", "path": "/x/y", "value": value}}
	}
	for name, row := range map[string]struct {
		value any
		kind  ErrorKind
		path  string
	}{
		"cyclic data":             {cyclic, Limit, "/x/y/a/a/a/a/a/a/a/a"},
		"depth 10 000":            {nest(10_000), Limit, "/x/y/a/a/a/a/a/a/a/a"},
		"just too deep for there": {nest(defaultMaxDepth - 1), Limit, "/x/y/a/a/a/a/a/a/a/a"},
		"NaN":                     {[]any{math.NaN()}, Document, "/x/y/0"},
		"a Go map":                {map[string]string{}, Document, "/x/y"},
	} {
		for way, options := range map[string][]Option{"detached": nil, "shared": {Shared()}} {
			t.Run(name+" "+way, func(t *testing.T) {
				t.Parallel()
				doc := map[string]any{"x": map[string]any{}}
				got, err := JSON(doc, adding(row.value), options...)
				var patchError *PatchError
				require.ErrorAs(t, err, &patchError)
				require.Nil(t, got)
				require.Equal(t, row.kind, patchError.Kind)
				require.Equal(t, row.path, patchError.Path)
				require.Equal(t, map[string]any{"x": map[string]any{}}, doc)
			})
		}
	}
	t.Run("the document", func(t *testing.T) {
		t.Parallel()
		_, err := JSON(map[string]any{"d": cyclic}, nil)
		require.Equal(t, Limit, KindOf(err), "detached it has to be copied")
		_, err = JSON(map[string]any{"d": math.Inf(1)}, nil)
		require.EqualError(t, err, "/d: +Inf is no JSON number")
		got, err := JSON(map[string]any{"d": cyclic, "x": map[string]any{}}, adding(1), Shared())
		require.NoError(t, err, "shared it isn't looked at")
		require.Equal(t, map[string]any{"y": int64(1)}, got.(map[string]any)["x"])
		_, err = JSON(map[string]any{"d": cyclic}, []any{map[string]any{"op": "copy", "from": "/d", "path": "/e"}}, Shared())
		require.Equal(t, Limit, KindOf(err))
		_, err = JSON(map[string]any{"d": cyclic}, []any{map[string]any{"op": "test", "path": "/d", "value": cyclic}}, Shared())
		require.Equal(t, Test, KindOf(err), "what has no end equals nothing")
	})
	t.Run("more depth by moving", func(t *testing.T) {
		t.Parallel()
		doc := map[string]any{"a": nest(defaultMaxDepth - 1), "b": map[string]any{}}
		for _, options := range [][]Option{nil, {Shared()}} {
			_, err := JSON(doc, []any{map[string]any{"op": "move", "from": "/a", "path": "/b/a"}}, options...)
			require.Equal(t, Limit, KindOf(err))
			_, err = JSON(doc, []any{map[string]any{"op": "move", "from": "/a", "path": "/c"}}, options...)
			require.NoError(t, err)
		}
	})
}

func TestCopyIsBounded(t *testing.T) {
	t.Parallel()
	// Each copy doubles the document.
	ops := make([]any, 60)
	for i := range ops {
		ops[i] = map[string]any{"op": "copy", "from": "/a", "path": "/a/-"}
	}
	doc := map[string]any{"a": []any{strings.Repeat("x", 100)}}
	for _, options := range [][]Option{{}, {Shared()}} {
		_, err := JSON(doc, ops, append(options, Within(1000, 10_000))...)
		require.Equal(t, Limit, KindOf(err))
		require.ErrorContains(t, err, "/a/-: operation 6 (copy): the values copied by the patch are larger than 10000 bytes")
		_, err = JSON(doc, ops[:6], append(options, Within(1000, 10_000))...)
		require.NoError(t, err)
	}
}

// TestSharedJSON shows what is copied: a document's containers that don't change are in the result.
func TestSharedJSON(t *testing.T) {
	t.Parallel()
	doc := object(t, `{"a":{"b":{"c":[1]},"d":{}},"e":[{"f":1},{"g":{}}]}`)
	value := map[string]any{"v": map[string]any{}}
	got, err := JSON(doc, []any{
		map[string]any{"op": "add", "path": "/a/b/x", "value": value},
		map[string]any{"op": "replace", "path": "/e/0/f", "value": 2},
		map[string]any{"op": "add", "path": "/a/b/x/w", "value": 1},
	}, Shared())
	require.NoError(t, err)
	require.Equal(t, map[string]any{"v": map[string]any{}}, value)
	require.Equal(t, object(t, `{"a":{"b":{"c":[1]},"d":{}},"e":[{"f":1},{"g":{}}]}`), doc)
	doc["a"].(map[string]any)["d"].(map[string]any)["mark"] = true
	doc["a"].(map[string]any)["b"].(map[string]any)["c"].([]any)[0] = "mark"
	doc["e"].([]any)[1].(map[string]any)["mark"] = true
	value["v"].(map[string]any)["mark"] = true
	require.Equal(t, object(t, `{"a":{"b":{"c":["mark"],"x":{"v":{"mark":true},"w":1}},"d":{"mark":true}},"e":[{"f":2},{"g":{},"mark":true}]}`), got)
}

// TestSharedJSONCopiesOnce counts allocations: operations on the same containers copy these once.
func TestSharedJSONCopiesOnce(t *testing.T) {
	doc, list := map[string]any{}, make([]any, 1000)
	for i := range list {
		list[i] = map[string]any{"value": "old"}
		doc[fmt.Sprint(i)] = "old"
	}
	doc["list"] = list
	var ops []any
	for i := range 100 {
		ops = append(ops,
			map[string]any{"op": "replace", "path": fmt.Sprintf("/list/%d/value", i), "value": "new"},
			map[string]any{"op": "replace", "path": fmt.Sprintf("/%d", i), "value": "new"})
	}
	once, often := bytesAllocated(t, doc, ops[:2]), bytesAllocated(t, doc, ops)
	require.Less(t, often, 2*once, "bytes allocated by 200 operations, against 2")
}

// bytesAllocated must not run beside other tests.
func bytesAllocated(t *testing.T, doc map[string]any, ops []any) uint64 {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := JSON(doc, ops, Shared())
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	return after.TotalAlloc - before.TotalAlloc
}
