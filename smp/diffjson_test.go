package smp

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDiffJSON(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ before, after, want string }{
		"equal documents":                    {`{"a":[1,{"b":null}]}`, `{"a":[1.0,{"b":null}]}`, `[]`},
		"fields by name":                     {`{"a":1,"c":1,"d":1}`, `{"b":2,"c":2,"d":1}`, `[{"op":"remove","path":"/a"},{"op":"add","path":"/b","value":2},{"op":"replace","path":"/c","value":2}]`},
		"a field that becomes null":          {`{"a":1}`, `{"a":null,"b":null}`, `[{"op":"replace","path":"/a","value":null},{"op":"add","path":"/b","value":null}]`},
		"names that need escapes":            {`{"a/b":{"~":1}}`, `{"a/b":{"~":2}}`, `[{"op":"replace","path":"/a~1b/~0","value":2}]`},
		"another type":                       {`{"a":{"b":1}}`, `{"a":[1]}`, `[{"op":"replace","path":"/a","value":[1]}]`},
		"another document":                   {`{"a":1}`, `"a"`, `[{"op":"replace","path":"","value":"a"}]`},
		"objects with nothing in common":     {`{"x":{"a":1,"b":2}}`, `{"x":{"c":1,"d":2}}`, `[{"op":"replace","path":"/x","value":{"c":1,"d":2}}]`},
		"an object that is emptied":          {`{"x":{"a":1}}`, `{"x":{}}`, `[{"op":"remove","path":"/x/a"}]`},
		"an element is added in the middle":  {`[1,2,3]`, `[1,9,2,3]`, `[{"op":"add","path":"/1","value":9}]`},
		"an element is removed in front":     {`[1,2,3]`, `[2,3]`, `[{"op":"remove","path":"/0"}]`},
		"elements are added at the end":      {`[1]`, `[1,2,3]`, `[{"op":"add","path":"/1","value":2},{"op":"add","path":"/2","value":3}]`},
		"elements are removed from within":   {`[1,2,3,4]`, `[1,4]`, `[{"op":"remove","path":"/1"},{"op":"remove","path":"/1"}]`},
		"two places of a list":               {`["a","b","c","d","e"]`, `["x","a","b","d","e","y"]`, `[{"op":"add","path":"/0","value":"x"},{"op":"remove","path":"/3"},{"op":"add","path":"/5","value":"y"}]`},
		"an element is changed inside":       {`[{"n":"a","v":1},{"n":"b","v":2}]`, `[{"n":"a","v":1},{"n":"b","v":3}]`, `[{"op":"replace","path":"/1/v","value":3}]`},
		"an element between others changes":  {`[{"n":"a","v":1},{"n":"b"},{"n":"c"}]`, `[{"n":"a","v":2},{"n":"c"},{"n":"d"}]`, `[{"op":"replace","path":"/0/v","value":2},{"op":"remove","path":"/1"},{"op":"add","path":"/2","value":{"n":"d"}}]`},
		"a list that is emptied is replaced": {`{"a":[1,2]}`, `{"a":[]}`, `[{"op":"replace","path":"/a","value":[]}]`},
		"lists in lists":                     {`[[1,2],[3]]`, `[[1,2,4],[3]]`, `[{"op":"add","path":"/0/2","value":4}]`},
		"equal elements":                     {`[1,1,1]`, `[1,1]`, `[{"op":"remove","path":"/2"}]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			on := func(before, after any, opts ...Option) (any, error) { return DiffJSON(before, after, opts...) }
			eachWay(t, row.before, row.after, on, JSONText.DiffJSON, func(t *testing.T, got any, err error) {
				t.Helper()
				require.NoError(t, err)
				assertSame(t, parse(t, row.want), got)
				back, err := JSON(parse(t, row.before), got)
				require.NoError(t, err)
				assertSame(t, parse(t, row.after), back)
			})
		})
	}
}

// TestDiffJSONOfLongLists has the shortest patch where few elements differ, and replaces lists that
// have too little in common to be worth comparing.
func TestDiffJSONOfLongLists(t *testing.T) {
	t.Parallel()
	list := func(length int, element func(int) any) []any {
		list := make([]any, length)
		for i := range list {
			list[i] = element(i)
		}
		return list
	}
	number := func(i int) any { return int64(i) }
	before := list(20_000, number)
	for name, row := range map[string]struct {
		after []any
		ops   int
	}{
		"one element less":              {append(append([]any{}, before[:7000]...), before[7001:]...), 1},
		"a change at each end":          {append(append([]any{"first"}, before[1:len(before)-1]...), "last"), 2},
		"every fiftieth gone":           {list(19_600, func(i int) any { return int64(i/49*50 + i%49) }), 400},
		"nothing in common":             {list(20_000, func(i int) any { return -int64(i) - 1 }), 1},
		"more differences than allowed": {list(18_000, func(i int) any { return int64(i/9*10 + i%9) }), 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ops, err := DiffJSON(before, row.after)
			require.NoError(t, err)
			require.Len(t, ops, row.ops)
			back, err := JSON(before, ops)
			require.NoError(t, err)
			require.Equal(t, any(row.after), back)
		})
	}
}

func TestDiffMerge(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ before, after, want string }{
		"equal documents":                {`{"a":[1],"b":null}`, `{"a":[1.0],"b":null}`, `{}`},
		"fields":                         {`{"a":1,"b":1,"c":{"d":1,"e":1}}`, `{"b":2,"c":{"d":1,"f":1}}`, `{"a":null,"b":2,"c":{"e":null,"f":1}}`},
		"lists are replaced":             {`{"a":[1,2]}`, `{"a":[1,2,null]}`, `{"a":[1,2,null]}`},
		"nulls in lists can be said":     {`{}`, `{"a":[{"b":null}]}`, `{"a":[{"b":null}]}`},
		"a null goes":                    {`{"a":null}`, `{}`, `{"a":null}`},
		"a null becomes something":       {`{"a":null}`, `{"a":{"b":1}}`, `{"a":{"b":1}}`},
		"an object is emptied":           {`{"a":{"b":1}}`, `{"a":{}}`, `{"a":{"b":null}}`},
		"a scalar becomes an object":     {`{"a":1}`, `{"a":{}}`, `{"a":{}}`},
		"an object becomes a scalar":     {`{"a":{"b":1}}`, `{"a":1}`, `{"a":1}`},
		"a list document":                {`[1]`, `[1]`, `[1]`},
		"a list document into an object": {`[1]`, `{"a":1}`, `{"a":1}`},
		"an object into a list":          {`{"a":1}`, `[1]`, `[1]`},
		"a document that becomes null":   {`{"a":1}`, `null`, `null`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachWay(t, row.before, row.after, DiffMerge, JSONText.DiffMerge, func(t *testing.T, got any, err error) {
				t.Helper()
				require.NoError(t, err)
				assertSame(t, parse(t, row.want), got)
				back, err := Merge(parse(t, row.before), got)
				require.NoError(t, err)
				assertSame(t, parse(t, row.after), back)
			})
		})
	}
}

func TestDiffMergeOfNulls(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ before, after, path string }{
		"a new null":                        {`{}`, `{"a":null}`, "/a"},
		"a field that becomes null":         {`{"a/b":{"c":1}}`, `{"a/b":{"c":null}}`, "/a~1b/c"},
		"a null in a new object":            {`{}`, `{"a":{"b":null}}`, "/a/b"},
		"a null in a former list":           {`[]`, `{"a":null}`, "/a"},
		"the first by name":                 {`{}`, `{"c":null,"b":null,"d":null}`, "/b"},
		"an object whose null stayed moves": {`{"a":{"b":null}}`, `{"c":{"b":null}}`, "/c/b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachWay(t, row.before, row.after, DiffMerge, JSONText.DiffMerge, func(t *testing.T, _ any, err error) {
				t.Helper()
				var patchError *PatchError
				require.ErrorAs(t, err, &patchError)
				assert.Equal(t, Invalid, patchError.Kind)
				assert.Equal(t, row.path, patchError.Path)
				assert.ErrorContains(t, err, "use a JSON patch")
			})
		})
	}
}

func TestBadInputOfDiffs(t *testing.T) {
	t.Parallel()
	cyclic := map[string]any{}
	cyclic["a"] = cyclic
	for name, diff := range map[string]func(before, after any, opts ...Option) (any, error){
		"DiffJSON":  func(before, after any, opts ...Option) (any, error) { return DiffJSON(before, after, opts...) },
		"DiffMerge": DiffMerge,
	} {
		for value, row := range map[string]struct {
			value any
			kind  ErrorKind
			path  string
		}{
			"cyclic data":  {cyclic, Limit, "/x/a/a/a/a/a/a/a"},
			"depth 10 000": {nest(10_000), Limit, "/x/a/a/a/a/a/a/a"},
			"NaN":          {[]any{math.NaN()}, Document, "/x/0"},
			"a Go map":     {map[string]string{}, Document, "/x"},
		} {
			t.Run(name+" "+value, func(t *testing.T) {
				t.Parallel()
				bad := map[string]any{"x": row.value}
				for _, sides := range [][2]any{{bad, map[string]any{}}, {map[string]any{}, bad}, {bad, bad}} {
					for _, options := range [][]Option{{Named("mine")}, {Named("mine"), Shared()}} {
						_, err := diff(sides[0], sides[1], options...)
						var patchError *PatchError
						require.ErrorAs(t, err, &patchError)
						require.Equal(t, row.kind, patchError.Kind)
						require.Equal(t, row.path, patchError.Path)
						require.Equal(t, "mine", patchError.Patch)
					}
				}
			})
		}
		t.Run(name+" Go's other numbers", func(t *testing.T) {
			t.Parallel()
			for _, options := range [][]Option{nil, {Shared()}} {
				got, err := diff(map[string]any{"a": 1}, map[string]any{"a": uint8(1), "b": []any{int32(2)}}, options...)
				require.NoError(t, err)
				if ops, isList := got.([]any); isList {
					got = map[string]any{"b": ops[0].(map[string]any)["value"]}
				}
				require.Equal(t, map[string]any{"b": []any{int64(2)}}, got)
			}
		})
		t.Run(name+" detached shares nothing", func(t *testing.T) {
			t.Parallel()
			after := object(t, `{"a":{"b":[{}]},"c":[[1]]}`)
			got, err := diff(map[string]any{}, after)
			require.NoError(t, err)
			scribble(got)
			require.Equal(t, object(t, `{"a":{"b":[{}]},"c":[[1]]}`), after)
		})
	}
}
