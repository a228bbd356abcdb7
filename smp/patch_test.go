package smp

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPatch(t *testing.T) {
	t.Parallel()
	doc := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"1"}}`
	for name, row := range map[string]struct {
		patch Patch
		want  string
		kind  ErrorKind
	}{
		"smp 5: strategic":                     {Patch{Type: StrategicMerge, Body: parse(t, `{"data":{"b":"2"}}`)}, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"1","b":"2"}}`, ""},
		"smp 5: operations":                    {Patch{Type: JSON6902, Body: parse(t, `[{"op":"remove","path":"/data/a"}]`)}, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{}}`, ""},
		"smp 5: an unknown type":               {Patch{Name: "n", Type: "nope", Body: parse(t, `{"a":1}`)}, ``, Invalid},
		"smp 5: an unknown type with no body":  {Patch{Name: "n", Type: "nope"}, ``, Invalid},
		"smp 3: an empty body":                 {Patch{Type: StrategicMerge, Body: parse(t, `[]`)}, doc, ""},
		"smp 30: no operations":                {Patch{Type: JSON6902, Body: parse(t, `{}`)}, doc, ""},
		"smp 26: D15 a list as the body":       {Patch{Name: "n", Type: StrategicMerge, Body: parse(t, `[1]`)}, ``, Invalid},
		"smp 26: D15 a scalar as the body":     {Patch{Name: "n", Type: StrategicMerge, Body: "x"}, ``, Invalid},
		"smp 30: an object as operations":      {Patch{Name: "n", Type: JSON6902, Body: parse(t, `{"a":1}`)}, ``, Invalid},
		"smp 27: operations change the name":   {Patch{Name: "n", Type: JSON6902, Body: parse(t, `[{"op":"replace","path":"/metadata/name","value":"d"}]`)}, ``, Identity},
		"smp 27: operations replace the whole": {Patch{Name: "n", Type: JSON6902, Body: parse(t, `[{"op":"replace","path":"","value":[]}]`)}, ``, Identity},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := row.patch.Apply(object(t, doc), schemaOf(object(t, doc)))
			if row.kind != "" {
				require.Error(t, err)
				assert.Equal(t, row.kind, KindOf(err), err)
				assert.ErrorContains(t, err, `patch "n": ConfigMap c`)
				return
			}
			require.NoError(t, err)
			assertSame(t, object(t, row.want), got)
		})
	}
	t.Run("smp 6: patches apply in order, each to the result of the one before", func(t *testing.T) {
		t.Parallel()
		at := object(t, doc)
		for _, patch := range []Patch{
			{Type: StrategicMerge, Body: parse(t, `{"data":{"a":"2","b":"1"}}`)},
			{Type: JSON6902, Body: parse(t, `[{"op":"test","path":"/data/a","value":"2"},{"op":"add","path":"/data/c","value":"3"}]`)},
			{Type: StrategicMerge, Body: parse(t, `{"data":{"a":"3"}}`)},
		} {
			var err error
			at, err = patch.Apply(at, schemaOf(at))
			require.NoError(t, err)
		}
		assertSame(t, parse(t, `{"a":"3","b":"1","c":"3"}`), at["data"])
	})
}
