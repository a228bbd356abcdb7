package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDecode(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		text string
		// want are the objects as JSON, places where they are said to be.
		want, places []string
	}{
		"nothing":                   {"", nil, nil},
		"comments only":             {"# a\n---\n# b\n---\n", nil, nil},
		"whole numbers":             {"a: 9007199254740993\nb: 9223372036854775807\n", []string{`{"a":9007199254740993,"b":9223372036854775807}`}, []string{"f: document 1"}},
		"whole numbers of JSON":     {`{"a": 9007199254740993}`, []string{`{"a":9007199254740993}`}, []string{"f: document 1"}},
		"escapes that YAML lacks":   {`{"a": "\ud83d\ude00 x\/y"}`, []string{`{"a":"😀 x/y"}`}, []string{"f: document 1"}},
		"JSON with tabs":            {"{\n\t\"a\": [\n\t\t1\n\t]\n}", []string{`{"a":[1]}`}, []string{"f: document 1"}},
		"JSON after JSON":           {`{"a": 1} {"b": 2}`, []string{`{"a":1}`, `{"b":2}`}, []string{"f: document 1", "f: document 2"}},
		"JSON and YAML":             {"{\"a\": 1}\n---\nb: 2\n", []string{`{"a":1}`, `{"b":2}`}, []string{"f: document 1", "f: document 2"}},
		"YAML that looks like JSON": {"{a: 1, b: {\n}\n} # c", []string{`{"a":1,"b":{}}`}, []string{"f: document 1"}},
		"a header before the first": {"# license\n---\na: 1\n--- # second\nb: 2\n...\n", []string{`{"a":1}`, `{"b":2}`}, []string{"f: document 1", "f: document 2"}},
		"ends of lines as on Windows": {"a: 1\r\n---\r\nb: 2\r\n", []string{`{"a":1}`, `{"b":2}`},
			[]string{"f: document 1", "f: document 2"}},
		"lists in lists": {"items: [{a: 1}, {items: [{b: 2}]}]", []string{`{"a":1}`, `{"b":2}`},
			[]string{"f: document 1, item 1", "f: document 1, item 2, item 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, err := decode("f", []byte(row.text))
			require.NoError(t, err)
			var got, places []string
			for _, m := range found {
				text, err := json.Marshal(m.object.Object)
				require.NoError(t, err)
				got, places = append(got, string(text)), append(places, m.place)
			}
			assert.Equal(t, row.want, got)
			assert.Equal(t, row.places, places)
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ text, says string }{
		"a key twice":                {"a: 1\n---\ndata: {x: 1}\ndata: {y: 2}\n", `f: document 2: error converting YAML to JSON: yaml: unmarshal errors:` + "\n" + `  line 2: key "data" already set in map`},
		"a key of JSON twice":        {`{"a": [{"b": {}, "c": 1, "b": 2}]}`, `f: document 1: key "b" is given twice in one object`},
		"text":                       {"hello", "f: document 1: is no object: it has no fields"},
		"a list without a kind":      {"- a: 1", "f: document 1: is no object: it has no fields"},
		"an item that is nothing":    {"items: [{a: 1}, null]", "f: document 1, item 2: is no object: it has no fields"},
		"JSON without its end":       {`{"a": 1} {`, "f: document 2: unexpected EOF"},
		"JSON with a comma too many": {`{"a": 1,} {"b": 2}`, "f: document 1: error converting YAML to JSON: yaml: "},
		"two values":                 {`{a: 1}, {b: 2}`, "f: document 1: 2 values stand in one document: put '---' between them"},
		"a document after its end":   {"a: 1\n...\nb: 2\n", "f: document 1: something follows the line '...': put '---' between documents"},
		"something after dashes":     {"a: 1\n--- b\n", "f: document 1: invalid Yaml document separator: b"},
		"a number that is none":      {"a: .nan", "f: document 1: error converting YAML to JSON: json: unsupported value: NaN"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, err := decode("f", []byte(row.text))
			assert.ErrorContains(t, err, row.says)
			assert.Empty(t, found, "half a file is worse than none")
		})
	}
}

// What was read says the same when it is written as JSON and read again.
func FuzzDecode(f *testing.F) {
	for _, text := range []string{"a: 1", `{"a": 1.5}{"b": "\ud83d"}`, "a: 1\n---\nitems: [{b: ~}]", "{a: 0x10, <<: {b: 1e3}}", `{"a":1,"a":2}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		found, err := decode("f", text)
		if err != nil {
			assert.ErrorContains(t, err, "f: document ")
			return
		}
		for _, m := range found {
			text, err := json.Marshal(m.object.Object)
			require.NoError(t, err)
			again, err := decode("f", text)
			require.NoError(t, err)
			if !m.object.IsList() {
				require.Len(t, again, 1)
				repeated, err := json.Marshal(again[0].object.Object)
				require.NoError(t, err)
				assert.Equal(t, string(text), string(repeated))
			}
		}
	})
}
