package schema_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/smp/internal/schema"
)

func TestText(t *testing.T) {
	t.Parallel()
	scalar := &schema.Type{Shape: schema.Scalar}
	list := func(values schema.Place) *schema.Type { return &schema.Type{Shape: schema.List, Values: values} }
	twin := &schema.Type{Name: "b.Thing", Shape: schema.Object, Fields: map[string]schema.Place{"x": {Type: scalar}}}
	tree := &schema.Type{Name: "b.Thing", Shape: schema.Object, Open: true}
	tree.Fields = map[string]schema.Place{"children": {Type: list(schema.Place{Type: tree})}}
	endless := list(schema.Place{})
	endless.Values.Type = endless
	root := &schema.Type{Name: "a.Root", Shape: schema.Object, Fields: map[string]schema.Place{
		"any":     {},
		"endless": {Type: endless},
		"set":     {Type: list(schema.Place{Type: scalar}), Strategy: schema.Merge},
		"ports": {Type: list(schema.Place{Type: twin}), Strategy: schema.Merge | schema.RetainKeys,
			Keys: []schema.Key{{Name: "port"}, {Name: "protocol", Default: "TCP"}}},
		"groups": {Type: &schema.Type{Shape: schema.Map, Values: schema.Place{
			Type: list(schema.Place{Type: scalar}), Strategy: schema.Merge}}},
		"selector":    {Type: &schema.Type{Shape: schema.Map, Values: schema.Place{Type: scalar}}, Strategy: schema.Replace},
		"tree":        {Type: tree},
		"two words":   {Type: scalar},
		"unnamed":     {Type: &schema.Type{Shape: schema.Object}},
		"a\nnew line": {Type: scalar},
	}}

	assert.Equal(t, `type a.Root
  "a\nnew line" scalar
  any any
  endless []any
  groups map[string]([]scalar merge)
  ports []b.Thing#2 merge,retainKeys port,protocol="TCP"
  selector map[string]scalar replace
  set []scalar merge
  tree b.Thing
  "two words" scalar
  unnamed object

type b.Thing open
  children []b.Thing

type b.Thing#2
  x scalar

type object
`, schema.Text(root))
	assert.Equal(t, "[]b.Thing", schema.Expression(root.Fields["ports"].Type))
	assert.Empty(t, schema.Text(scalar), "only objects have a block")
}

func TestStrategy(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]schema.Strategy{
		"":                 0,
		"merge":            schema.Merge,
		"replace":          schema.Replace,
		"retainKeys":       schema.RetainKeys,
		"merge,retainKeys": schema.Merge | schema.RetainKeys,
	} {
		t.Run("smp 12: "+text, func(t *testing.T) {
			t.Parallel()
			parsed, err := schema.ParseStrategy(text)
			require.NoError(t, err)
			assert.Equal(t, want, parsed)
			assert.Equal(t, text, parsed.String())
		})
	}
	for _, text := range []string{"Merge", "merge,", "merge, retainKeys", "atomic"} {
		_, err := schema.ParseStrategy(text)
		assert.ErrorContains(t, err, text)
	}
}

func TestField(t *testing.T) {
	t.Parallel()
	scalar := schema.Place{Type: &schema.Type{Shape: schema.Scalar}}
	fields := map[string]schema.Place{"name": scalar}
	for name, row := range map[string]struct {
		of    *schema.Type
		field string
		known bool
		want  schema.Place
	}{
		"of nothing each is known":               {nil, "x", true, schema.Place{}},
		"of anything each is known":              {&schema.Type{}, "x", true, schema.Place{}},
		"of an object its own":                   {&schema.Type{Shape: schema.Object, Fields: fields}, "name", true, scalar},
		"smp 22: of an object no other":          {&schema.Type{Shape: schema.Object, Fields: fields}, "Name", false, schema.Place{}},
		"of an open object every other too":      {&schema.Type{Shape: schema.Object, Fields: fields, Open: true}, "x", true, schema.Place{}},
		"of a map each, with the type of values": {&schema.Type{Shape: schema.Map, Values: scalar}, "x", true, scalar},
		"of a list none":                         {&schema.Type{Shape: schema.List, Values: scalar}, "x", false, schema.Place{}},
		"of a scalar none":                       {scalar.Type, "x", false, schema.Place{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			place, known := row.of.Field(row.field)
			assert.Equal(t, row.known, known)
			assert.Equal(t, row.want, place)
		})
	}
}
