package dryrun

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	apijson "k8s.io/apimachinery/pkg/util/json"
)

func decode(t testing.TB, text string) any {
	t.Helper()
	var value any
	require.NoError(t, apijson.Unmarshal([]byte(text), &value))
	return value
}

// The examples of RFC 6902, appendix A, and what lies between them.
func TestJSONPatch(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		document, patch string
		// want is the result; an error contains says.
		want, says string
	}{
		"A.1 adding a member":            {document: `{"foo":"bar"}`, patch: `[{"op":"add","path":"/baz","value":"qux"}]`, want: `{"baz":"qux","foo":"bar"}`},
		"A.2 adding an element":          {document: `{"foo":["bar","baz"]}`, patch: `[{"op":"add","path":"/foo/1","value":"qux"}]`, want: `{"foo":["bar","qux","baz"]}`},
		"A.3 removing a member":          {document: `{"baz":"qux","foo":"bar"}`, patch: `[{"op":"remove","path":"/baz"}]`, want: `{"foo":"bar"}`},
		"A.4 removing an element":        {document: `{"foo":["bar","qux","baz"]}`, patch: `[{"op":"remove","path":"/foo/1"}]`, want: `{"foo":["bar","baz"]}`},
		"A.5 replacing a value":          {document: `{"baz":"qux","foo":"bar"}`, patch: `[{"op":"replace","path":"/baz","value":"boo"}]`, want: `{"baz":"boo","foo":"bar"}`},
		"A.6 moving a value":             {document: `{"foo":{"bar":"baz","waldo":"fred"},"qux":{"corge":"grault"}}`, patch: `[{"op":"move","from":"/foo/waldo","path":"/qux/thud"}]`, want: `{"foo":{"bar":"baz"},"qux":{"corge":"grault","thud":"fred"}}`},
		"A.7 moving an element":          {document: `{"foo":["all","grass","cows","eat"]}`, patch: `[{"op":"move","from":"/foo/1","path":"/foo/3"}]`, want: `{"foo":["all","cows","eat","grass"]}`},
		"A.8 testing: success":           {document: `{"baz":"qux","foo":["a",2,"c"]}`, patch: `[{"op":"test","path":"/baz","value":"qux"},{"op":"test","path":"/foo/1","value":2}]`, want: `{"baz":"qux","foo":["a",2,"c"]}`},
		"A.9 testing: error":             {document: `{"baz":"qux"}`, patch: `[{"op":"test","path":"/baz","value":"bar"}]`, says: `operation 1, test: /baz is "qux", not "bar"`},
		"A.10 adding a nested member":    {document: `{"foo":"bar"}`, patch: `[{"op":"add","path":"/child","value":{"grandchild":{}}}]`, want: `{"child":{"grandchild":{}},"foo":"bar"}`},
		"A.11 ignoring unknown elements": {document: `{"foo":"bar"}`, patch: `[{"op":"add","path":"/baz","value":"qux","xyz":123}]`, want: `{"baz":"qux","foo":"bar"}`},
		"A.12 adding to nowhere":         {document: `{"foo":"bar"}`, patch: `[{"op":"add","path":"/baz/bat","value":"qux"}]`, says: `"baz" not found`},
		"A.14 escapes":                   {document: `{"/":9,"~1":10}`, patch: `[{"op":"test","path":"/~01","value":10}]`, want: `{"/":9,"~1":10}`},
		"A.15 text isn't a number":       {document: `{"/":9,"~1":10}`, patch: `[{"op":"test","path":"/~01","value":"10"}]`, says: `is 10, not "10"`},
		"A.16 adding an array":           {document: `{"foo":["bar"]}`, patch: `[{"op":"add","path":"/foo/-","value":["abc","def"]}]`, want: `{"foo":["bar",["abc","def"]]}`},

		"nothing":                   {document: `{"a":1}`, patch: `[]`, want: `{"a":1}`},
		"a null":                    {document: `{"a":1}`, patch: `[{"op":"add","path":"/b","value":null},{"op":"test","path":"/b","value":null}]`, want: `{"a":1,"b":null}`},
		"numbers are equal as such": {document: `{"a":1}`, patch: `[{"op":"test","path":"/a","value":1.0}]`, want: `{"a":1}`},
		"members in any order":      {document: `{"a":{"b":1,"c":2}}`, patch: `[{"op":"test","path":"/a","value":{"c":2,"b":1}}]`, want: `{"a":{"b":1,"c":2}}`},
		"a copy is apart":           {document: `{"a":{"b":1}}`, patch: `[{"op":"copy","from":"/a","path":"/c"},{"op":"replace","path":"/c/b","value":2}]`, want: `{"a":{"b":1},"c":{"b":2}}`},
		"the document as a whole":   {document: `{"a":1}`, patch: `[{"op":"replace","path":"","value":{"b":2}},{"op":"add","path":"/c","value":3}]`, want: `{"b":2,"c":3}`},
		"adding the document anew":  {document: `{"a":1}`, patch: `[{"op":"add","path":"","value":{"b":2}}]`, want: `{"b":2}`},
		"an empty key":              {document: `{"":1}`, patch: `[{"op":"replace","path":"/","value":2}]`, want: `{"":2}`},
		"an element at the end":     {document: `{"a":[1]}`, patch: `[{"op":"add","path":"/a/1","value":2}]`, want: `{"a":[1,2]}`},
		"adding replaces a member":  {document: `{"a":1}`, patch: `[{"op":"add","path":"/a","value":2}]`, want: `{"a":2}`},
		"replacing an element":      {document: `{"a":[1,2]}`, patch: `[{"op":"replace","path":"/a/0","value":3}]`, want: `{"a":[3,2]}`},
		"moving to where it is":     {document: `{"a":{"b":1}}`, patch: `[{"op":"move","from":"/a","path":"/a"}]`, want: `{"a":{"b":1}}`},
		"deep in lists":             {document: `{"a":[{"b":[1,{"c":2}]}]}`, patch: `[{"op":"replace","path":"/a/0/b/1/c","value":3}]`, want: `{"a":[{"b":[1,{"c":3}]}]}`},

		"no list of operations":         {document: `{}`, patch: `{}`, says: "cannot unmarshal"},
		"an operation that isn't there": {document: `{}`, patch: `[{"op":"spam","path":"/a"}]`, says: "operation 1, spam: unknown operation"},
		"no path":                       {document: `{}`, patch: `[{"op":"remove"}]`, says: "path is missing"},
		"no value":                      {document: `{}`, patch: `[{"op":"add","path":"/a"}]`, says: "value is missing"},
		"no from":                       {document: `{}`, patch: `[{"op":"copy","path":"/a"}]`, says: "from is missing"},
		"a path without slash":          {document: `{}`, patch: `[{"op":"add","path":"a","value":1}]`, says: `path "a" doesn't begin with a slash`},
		"removing what isn't there":     {document: `{}`, patch: `[{"op":"remove","path":"/a"}]`, says: `"a" not found`},
		"replacing what isn't there":    {document: `{}`, patch: `[{"op":"replace","path":"/a","value":1}]`, says: `"a" not found`},
		"testing what isn't there":      {document: `{}`, patch: `[{"op":"test","path":"/a","value":null}]`, says: `"a" not found`},
		"moving what isn't there":       {document: `{}`, patch: `[{"op":"move","from":"/a","path":"/b"}]`, says: `"a" not found`},
		"moving into itself":            {document: `{"a":{}}`, patch: `[{"op":"move","from":"/a","path":"/a/b"}]`, says: "can't be moved into itself"},
		"an index behind the end":       {document: `{"a":[1]}`, patch: `[{"op":"add","path":"/a/2","value":1}]`, says: "index 2 is out of range"},
		"removing behind the end":       {document: `{"a":[1]}`, patch: `[{"op":"remove","path":"/a/1"}]`, says: "index 1 is out of range"},
		"removing the end":              {document: `{"a":[1]}`, patch: `[{"op":"remove","path":"/a/-"}]`, says: `"-" isn't an index`},
		"an index with zeros":           {document: `{"a":[1,2]}`, patch: `[{"op":"remove","path":"/a/01"}]`, says: `"01" isn't an index`},
		"a negative index":              {document: `{"a":[1,2]}`, patch: `[{"op":"remove","path":"/a/-1"}]`, says: `"-1" isn't an index`},
		"below a value":                 {document: `{"a":1}`, patch: `[{"op":"add","path":"/a/b","value":1}]`, says: `"b" can't be added: its parent is neither a map nor a list`},
		"removing below a value":        {document: `{"a":1}`, patch: `[{"op":"remove","path":"/a/b"}]`, says: "its parent is neither a map nor a list"},
		"removing the document":         {document: `{"a":1}`, patch: `[{"op":"remove","path":""}]`, says: "out of range"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			document := decode(t, test.document)
			got, err := jsonPatch(document, []byte(test.patch))
			assert.Equal(t, decode(t, test.document), document, "the document isn't changed")
			if test.says != "" {
				require.ErrorContains(t, err, test.says)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, decode(t, test.want), got)
		})
	}
}

// The examples of RFC 7386, appendix A.
func TestMergePatch(t *testing.T) {
	t.Parallel()
	for _, test := range [][3]string{
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b"}`, `{"a":null}`, `{}`},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
		{`["a","b"]`, `["c","d"]`, `["c","d"]`},
		{`{"a":"b"}`, `["c"]`, `["c"]`},
		{`{"a":"foo"}`, `null`, `null`},
		{`{"a":"foo"}`, `"bar"`, `"bar"`},
		{`{"e":null}`, `{"a":1}`, `{"e":null,"a":1}`},
		{`[1,2]`, `{"a":"b","c":null}`, `{"a":"b"}`},
		{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
	} {
		target := decode(t, test[0])
		assert.Equal(t, decode(t, test[2]), mergePatch(target, decode(t, test[1])), "%s to %s", test[1], test[0])
		assert.Equal(t, decode(t, test[0]), target, "the target isn't changed")
	}
}

// FuzzPatches looks for patches that panic, change their document, or make no JSON.
func FuzzPatches(f *testing.F) {
	f.Add(`{"foo":["all","grass"],"a":{"b":1}}`, `[{"op":"move","from":"/foo/1","path":"/foo/0"}]`)
	f.Add(`{"a":{"b":null}}`, `[{"op":"copy","from":"/a","path":"/a/b"},{"op":"remove","path":"/a/b/b"}]`)
	f.Add(`[1,[2]]`, `[{"op":"add","path":"/1/-","value":{"~":"/"}},{"op":"test","path":"","value":[1]}]`)
	f.Add(`{"a":{"b":1}}`, `{"a":{"b":null,"c":[null]}}`)
	f.Fuzz(func(t *testing.T, text, patch string) {
		var document, changes any
		if apijson.Unmarshal([]byte(text), &document) != nil {
			return
		}
		kept := runtime.DeepCopyJSONValue(document)
		after, err := jsonPatch(document, []byte(patch))
		require.Equal(t, kept, document)
		if err == nil {
			_, err = json.Marshal(after)
			require.NoError(t, err)
		}
		if apijson.Unmarshal([]byte(patch), &changes) != nil {
			return
		}
		once := mergePatch(document, changes)
		require.Equal(t, kept, document)
		require.Equal(t, once, mergePatch(once, changes), "a merge patch twice is a merge patch once")
	})
}
