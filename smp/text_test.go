package smp

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// textCall is one of the functions of texts, with a second and a third text where it takes them.
type textCall struct {
	json, yaml func(texts [3][]byte, opts ...Option) ([]byte, error)
	// names are what errors call the texts.
	names []string
	// objects says that only objects will do.
	objects bool
}

func textCalls() map[string]textCall {
	two := func(call func(a, b []byte, opts ...Option) ([]byte, error)) func([3][]byte, ...Option) ([]byte, error) {
		return func(texts [3][]byte, opts ...Option) ([]byte, error) { return call(texts[0], texts[1], opts...) }
	}
	twoWithSchema := func(call func(a, b []byte, schema Schema, opts ...Option) ([]byte, error)) func([3][]byte, ...Option) ([]byte, error) {
		return func(texts [3][]byte, opts ...Option) ([]byte, error) {
			return call(texts[0], texts[1], podSchema(), opts...)
		}
	}
	three := func(call func(a, b, c []byte, schema Schema, opts ...Option) ([]byte, error)) func([3][]byte, ...Option) ([]byte, error) {
		return func(texts [3][]byte, opts ...Option) ([]byte, error) {
			return call(texts[0], texts[1], texts[2], podSchema(), opts...)
		}
	}
	patch, diff := []string{"document", "patch"}, []string{"document before", "document after"}
	return map[string]textCall{
		"Strategic": {twoWithSchema(JSONText.Strategic), twoWithSchema(YAMLText.Strategic), patch, true},
		"JSON":      {two(JSONText.JSON), two(YAMLText.JSON), patch, false},
		"Merge":     {two(JSONText.Merge), two(YAMLText.Merge), patch, false},
		"Diff":      {twoWithSchema(JSONText.Diff), twoWithSchema(YAMLText.Diff), diff, true},
		"Diff3":     {three(JSONText.Diff3), three(YAMLText.Diff3), []string{"original document", "modified document", "current document"}, true},
		"DiffJSON":  {two(JSONText.DiffJSON), two(YAMLText.DiffJSON), diff, false},
		"DiffMerge": {two(JSONText.DiffMerge), two(YAMLText.DiffMerge), diff, false},
	}
}

func podSchema() Schema {
	return schemaOf(map[string]any{"apiVersion": "v1", "kind": "Pod"})
}

func TestTexts(t *testing.T) {
	t.Parallel()
	web := pod(`{"containers":[{"image":"1","name":"web"}],"priority":9007199254740993}`)
	web2 := pod(`{"containers":[{"image":"2","name":"web"}],"priority":9007199254740993}`)
	for name, row := range map[string]struct {
		call  string
		texts [3]string
		json  string
		yaml  string
	}{
		"a strategic patch": {
			"Strategic", [3]string{web, `{"spec":{"containers":[{"name":"web","image":"2"}]}}`},
			`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"image":"2","name":"web"}],"priority":9007199254740993}}`,
			"apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\nspec:\n  containers:\n  - image: \"2\"\n    name: web\n  priority: 9007199254740993\n",
		},
		"no strategic patch": {
			"Strategic", [3]string{web, `null`},
			`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"image":"1","name":"web"}],"priority":9007199254740993}}`,
			"apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\nspec:\n  containers:\n  - image: \"1\"\n    name: web\n  priority: 9007199254740993\n",
		},
		"a strategic difference":      {"Diff", [3]string{web, web2}, `{"spec":{"containers":[{"image":"2","name":"web"}]}}`, "spec:\n  containers:\n  - image: \"2\"\n    name: web\n"},
		"no strategic difference":     {"Diff", [3]string{web, web}, `{}`, "{}\n"},
		"a difference of three":       {"Diff3", [3]string{web, web2, web}, `{"spec":{"containers":[{"image":"2","name":"web"}]}}`, "spec:\n  containers:\n  - image: \"2\"\n    name: web\n"},
		"nothing was applied before":  {"Diff3", [3]string{"null", web2, web}, `{"spec":{"containers":[{"image":"2","name":"web"}]}}`, "spec:\n  containers:\n  - image: \"2\"\n    name: web\n"},
		"a JSON patch":                {"JSON", [3]string{`{"number":9007199254740993,"b":[1]}`, `[{"op":"add","path":"/b/-","value":12345678901234567890}]`}, `{"b":[1,12345678901234567890],"number":9007199254740993}`, "b:\n- 1\n- 12345678901234567890\nnumber: 9007199254740993\n"},
		"a JSON patch of a scalar":    {"JSON", [3]string{`1`, `[{"op":"replace","path":"","value":"yes"}]`}, `"yes"`, "\"yes\"\n"},
		"a merge patch":               {"Merge", [3]string{`{"a":"x\ny\n","b":1}`, `{"b":null,"c":0.1}`}, `{"a":"x\ny\n","c":0.1}`, "a: |\n  x\n  y\nc: 0.1\n"},
		"a difference as a JSON one":  {"DiffJSON", [3]string{`{"a":1}`, `{"a":2}`}, `[{"op":"replace","path":"/a","value":2}]`, "- op: replace\n  path: /a\n  value: 2\n"},
		"a difference as a merge one": {"DiffMerge", [3]string{`{"a":1}`, `{"b":[]}`}, `{"a":null,"b":[]}`, "a: null\nb: []\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			texts := [3][]byte{[]byte(row.texts[0]), []byte(row.texts[1]), []byte(row.texts[2])}
			call := textCalls()[row.call]
			got, err := call.json(texts)
			require.NoError(t, err)
			assert.Equal(t, row.json, string(got))
			got, err = call.yaml(texts)
			require.NoError(t, err)
			assert.Equal(t, row.yaml, string(got))
			for i := range texts {
				assert.Equal(t, row.texts[i], string(texts[i]), "an input was changed")
			}
		})
	}
}

func TestBadTexts(t *testing.T) {
	t.Parallel()
	good := pod(`{"hostname":"h"}`)
	for name, row := range map[string]struct {
		text string
		kind ErrorKind
		json string
		// yaml is empty where the text is YAML.
		yaml    string
		options []Option
	}{
		"no text":                  {text: "", kind: Document, json: "line 1, offset 0: the text ends where a value is expected"},
		"a syntax error":           {text: "{\"a\":1,\n \"b\"}", kind: Document, json: "line 2, offset 12: '}' where a colon after the key is expected"},
		"a syntax error of both":   {text: "{\"a\":1,\n\n", kind: Document, json: "line 3, offset 9: the text ends", yaml: "did not find expected node content"},
		"a field twice":            {text: "{\"a\":1,\n\"a\":2}", kind: Document, json: `line 2, offset 8: the key "a" comes twice in one object`, yaml: `line 2: key "a" already set in map`},
		"invalid UTF-8":            {text: "{\"a\":\"\xff\"}", kind: Document, json: "line 1, offset 6: the byte 0xff is not valid UTF-8", yaml: "invalid leading UTF-8 octet"},
		"half of a surrogate pair": {text: `{"a":"\ud800"}`, kind: Document, json: `\ud800 is half of a surrogate pair`, yaml: "found invalid Unicode character escape code"},
		"NaN":                      {text: `{"a": NaN}`, kind: Document, json: "line 1, offset 6: 'N' where a value is expected"},
		"depth 10 000":             {text: strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000), kind: Limit, json: "offset 100: nested too deeply: more than 100 levels", yaml: "nested too deeply: more than 100 levels"},
		"depth 20 000":             {text: strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000), kind: Limit, json: "nested too deeply: more than 100 levels", yaml: "nested too deeply"},
		"depth 101":                {text: strings.Repeat("[", 101) + strings.Repeat("]", 101), kind: Limit, json: "offset 100: nested too deeply: more than 100 levels", yaml: "nested too deeply: more than 100 levels"},
		"depth 11":                 {text: strings.Repeat("[", 11) + strings.Repeat("]", 11), kind: Limit, json: "more than 10 levels", yaml: "more than 10 levels", options: []Option{Within(10, 0)}},
		"too large":                {text: `{"a":"` + strings.Repeat("x", 1000) + `"}`, kind: Limit, json: "is larger than 1000 bytes", yaml: "is larger than 1000 bytes", options: []Option{Within(0, 1000)}},
	} {
		for function, call := range textCalls() {
			t.Run(name+" "+function, func(t *testing.T) {
				t.Parallel()
				for i, part := range call.names {
					texts := [3][]byte{[]byte(good), []byte(good), []byte(good)}
					texts[i] = []byte(row.text)
					got, err := call.json(texts, append(row.options, Named("mine"))...)
					assert.Nil(t, got)
					assert.Equal(t, row.kind, KindOf(err))
					assert.ErrorContains(t, err, `patch "mine": `)
					assert.ErrorContains(t, err, part)
					assert.ErrorContains(t, err, row.json)
					if row.yaml == "" {
						continue
					}
					got, err = call.yaml(texts, append(row.options, Named("mine"))...)
					assert.Nil(t, got)
					assert.Equal(t, row.kind, KindOf(err))
					assert.ErrorContains(t, err, part)
					assert.ErrorContains(t, err, row.yaml)
				}
			})
		}
	}
}

func TestTextsThatAreNoObjects(t *testing.T) {
	t.Parallel()
	good := pod(`{}`)
	for function, call := range textCalls() {
		if !call.objects {
			continue
		}
		t.Run(function, func(t *testing.T) {
			t.Parallel()
			for i, part := range call.names {
				texts := [3][]byte{[]byte(good), []byte(good), []byte(good)}
				texts[i] = []byte(`[1]`)
				for _, call := range []func([3][]byte, ...Option) ([]byte, error){call.json, call.yaml} {
					_, err := call(texts)
					assert.Equal(t, Invalid, KindOf(err))
					assert.ErrorContains(t, err, "the "+part+" is a list: want an object")
				}
			}
		})
	}
}

func TestTextOf10MB(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	b.WriteString(`{"a":[`)
	for b.Len() < 10<<20 {
		b.WriteString(`{"name":"some name or other","value":"some value or other","number":12345},`)
	}
	b.WriteString(`0]}`)
	got, err := JSONText.JSON(b.Bytes(), []byte(`[{"op":"replace","path":"/a/0/number","value":1},{"op":"remove","path":"/a/1"}]`))
	require.NoError(t, err)
	require.Contains(t, string(got[:200]), `"number":1,`)
	ops, err := JSONText.DiffJSON(b.Bytes(), got)
	require.NoError(t, err)
	require.Equal(t, `[{"op":"replace","path":"/a/0/number","value":1},{"op":"remove","path":"/a/1"}]`, string(ops))
}

// TestErrorsOfTextsNameTheDocument as it was before operations that came before the one that failed.
func TestErrorsOfTextsNameTheDocument(t *testing.T) {
	t.Parallel()
	_, err := JSONText.JSON([]byte(meta(`{"name":"n"}`)), []byte(`[{"op":"replace","path":"/metadata/name","value":"m"}]`))
	require.EqualError(t, err, `ConfigMap n: /metadata/name: the patch changes it from "n" to "m", which makes another object: give AllowIdentityChange if that is intended`)
}
