package gotype_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/smp/internal/schema"
	"github.com/operkit/operkit/smp/internal/schema/gotype"
)

type Base struct {
	ID     string `json:"id"`
	Hidden string `json:"hidden"`
}

type secret struct {
	Found string
}

type left struct{ Twice string }

type right struct{ Twice string }

type text string //nolint:unused // it is embedded below

type Port struct {
	Name string `json:"name"`
	Next *Port  `json:"next,omitempty"`
}

type named[T any] struct{ Value T }

type Everything struct {
	Base     `json:",inline"`
	*secret       // unexported, and its fields are exported
	left          // both have a field Twice, so there is none
	right         //
	text          //nolint:unused // unexported, no struct
	Titled   Base `json:"titled"`
	Port     `json:"embedded"`
	Hidden   []string `json:"hidden"` // less deep than Base's
	Plain    int
	Dashed   chan int `json:"-"`
	Dash     bool     `json:"-,"` //nolint:staticcheck // a field of the name "-"
	Asked    float64  `json:",omitempty"`
	private  int
	Bytes    []byte                         `json:"bytes"`
	Array    [2]bool                        `json:"array"`
	Free     any                            `json:"free"`
	Labels   map[string]string              `json:"labels"`
	ByNumber map[int]*Port                  `json:"byNumber"`
	ByAddr   map[netip.Addr][]Port          `json:"byAddr"`
	Inner    struct{ Deep struct{ X int } } `json:"inner"`
	Generic  named[[]int]                   `json:"generic"`
	Ports    *[]*Port                       `json:"ports" patchStrategy:"merge" patchMergeKey:"name"`
	Set      []string                       `json:"set" patchStrategy:"merge" patchMergeKey:"ignored"`
	Anything []any                          `json:"anything" patchStrategy:"merge"`
	Selector map[string]string              `json:"selector" patchStrategy:"replace"`
	Volumes  []Port                         `json:"volumes" patchStrategy:"merge,retainKeys" patchMergeKey:"name"`
	Keyed    []Port                         `json:"keyed" patchMergeKey:"name"` // without a strategy
}

func TestRead(t *testing.T) {
	t.Parallel()
	_ = Everything{}.private
	root, err := gotype.Read(reflect.TypeFor[***Everything]())
	require.NoError(t, err)
	const self = "com.github.operkit.operkit.smp.internal.schema.gotype_test."
	assert.Equal(t, `type `+self+`Everything
  - scalar
  Asked scalar
  Found scalar
  Plain scalar
  anything []any merge
  array []scalar
  byAddr map[string][]`+self+`Port
  byNumber map[string]`+self+`Port
  bytes scalar
  embedded `+self+`Port
  free any
  generic `+self+`named[[]int]
  hidden []scalar
  id scalar
  inner `+self+`Everything.inner
  keyed []`+self+`Port
  labels map[string]scalar
  ports []`+self+`Port merge name
  selector map[string]scalar replace
  set []scalar merge
  titled `+self+`Base
  volumes []`+self+`Port merge,retainKeys name

type `+self+`Base
  hidden scalar
  id scalar

type `+self+`Everything.inner
  Deep `+self+`Everything.inner.Deep

type `+self+`Everything.inner.Deep
  X scalar

type `+self+`Port
  name scalar
  next `+self+`Port

type `+self+`named[[]int]
  Value []scalar
`, schema.Text(root))
}

// What encoding/json writes of a value is what the type has, with the exception of fields that
// are left out.
func TestReadAgreesWithEncodingJSON(t *testing.T) {
	t.Parallel()
	root, err := gotype.Read(reflect.TypeFor[Everything]())
	require.NoError(t, err)
	text, err := json.Marshal(Everything{secret: &secret{}, Asked: 1})
	require.NoError(t, err)
	var written map[string]any
	require.NoError(t, json.Unmarshal(text, &written))
	for name := range written {
		assert.Contains(t, root.Fields, name)
	}
	for name := range root.Fields {
		assert.Contains(t, written, name)
	}
}

type answersByNil struct{ *quantity }

// quantity writes its JSON itself and says what that is, as the types of Kubernetes do.
type quantity struct{ Looks string }

func (quantity) MarshalJSON() ([]byte, error) { return []byte(`"1Gi"`), nil }

func (quantity) OpenAPISchemaType() []string { return []string{"string"} }

// boolOrObject says that it isn't one thing.
type boolOrObject struct{ Looks string }

func (boolOrObject) MarshalJSON() ([]byte, error) { return []byte(`true`), nil }

func (boolOrObject) OpenAPISchemaType() []string { return nil }

type tuple struct{ Looks string }

func (tuple) MarshalJSON() ([]byte, error) { return []byte(`[]`), nil }

func (tuple) OpenAPISchemaType() []string { return []string{"string", "array"} }

type ownJSON struct{ Looks string }

func (*ownJSON) MarshalJSON() ([]byte, error) { return []byte(`{}`), nil }

func TestOwnForms(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		of   any
		want string
	}{
		"one that says it is a string":             {struct{ F quantity }{}, "scalar"},
		"the same behind a pointer":                {struct{ F *quantity }{}, "scalar"},
		"the same in a map":                        {struct{ F map[string]quantity }{}, "map[string]scalar"},
		"one that doesn't say what it is":          {struct{ F boolOrObject }{}, "any"},
		"one that says it is two things":           {struct{ F tuple }{}, "any"},
		"Go's time, which writes JSON and text":    {struct{ F time.Time }{}, "scalar"},
		"text":                                     {struct{ F netip.Addr }{}, "scalar"},
		"a big number":                             {struct{ F *big.Int }{}, "scalar"},
		"raw JSON":                                 {struct{ F json.RawMessage }{}, "any"},
		"JSON that only a pointer can write":       {struct{ F ownJSON }{}, "any"},
		"one that can't say what it is, being nil": {struct{ F answersByNil }{}, "any"},
		"an interface":                             {struct{ F fmt.Stringer }{}, "any"},
		"an interface that writes JSON":            {struct{ F json.Marshaler }{}, "any"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, err := gotype.Read(reflect.TypeOf(row.of))
			require.NoError(t, err)
			assert.Equal(t, row.want, schema.Expression(root.Fields["F"].Type))
		})
	}
}

type pointerToItself *pointerToItself

type listOfItself []listOfItself

type embedsItself struct {
	*embedsItself //nolint:unused // looked at by reflection
	Name          string
}

func TestTypesThatHoldThemselves(t *testing.T) {
	t.Parallel()
	root, err := gotype.Read(reflect.TypeFor[struct{ F listOfItself }]())
	require.NoError(t, err)
	list := root.Fields["F"].Type
	assert.Same(t, list, list.Values.Type)

	root, err = gotype.Read(reflect.TypeFor[embedsItself]())
	require.NoError(t, err)
	assert.Len(t, root.Fields, 1)
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		of   reflect.Type
		says string
	}{
		"nil":                      {nil, "nil has no fields"},
		"a number":                 {reflect.TypeFor[int](), "Go type int has no fields"},
		"a map":                    {reflect.TypeFor[map[string]any](), "Go type map[string]interface {} has no fields"},
		"an interface":             {reflect.TypeFor[*fmt.Stringer](), "Go type *fmt.Stringer has no fields"},
		"a pointer to itself":      {reflect.TypeFor[pointerToItself](), "has no fields"},
		"what writes its JSON":     {reflect.TypeFor[time.Time](), "Go type time.Time writes its JSON itself"},
		"a channel":                {reflect.TypeFor[struct{ F chan int }](), "field F of struct { F chan int }: chan int has no form in JSON"},
		"a function in a list":     {reflect.TypeFor[struct{ F []func() }](), "func() has no form in JSON"},
		"a complex number":         {reflect.TypeFor[struct{ F complex64 }](), "complex64 has no form in JSON"},
		"keys that aren't text":    {reflect.TypeFor[struct{ F map[bool]int }](), "map[bool]int: its keys can't be keys of a JSON object"},
		"a pointer without an end": {reflect.TypeFor[struct{ F pointerToItself }](), "nested deeper than 1000"},
		"a strategy that isn't one": {reflect.TypeFor[struct {
			F []Port `patchStrategy:"mergee"`
		}](), `field F of struct { F []gotype_test.Port "patchStrategy:\"mergee\"" }: patch strategy "mergee"`},
		"a merged list of structs without key": {reflect.TypeFor[struct {
			F []Port `patchStrategy:"merge"`
		}](), "needs a patchMergeKey"},
		"a key that the elements don't have": {reflect.TypeFor[struct {
			F []*Port `patchStrategy:"merge" patchMergeKey:"Name"`
		}](), `patchMergeKey "Name" is no JSON field of gotype_test.Port`},
		"a merged list of lists": {reflect.TypeFor[struct {
			F [][]Port `patchStrategy:"merge" patchMergeKey:"name"`
		}](), "a list of lists"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, err := gotype.Read(row.of)
			require.ErrorContains(t, err, row.says)
			assert.Nil(t, root)
			var wrong *schema.Error
			require.ErrorAs(t, err, &wrong)
			assert.Equal(t, schema.Malformed, wrong.Reason)
		})
	}
}
