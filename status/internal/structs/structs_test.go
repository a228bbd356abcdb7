package structs_test

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/operkit/operkit/status/internal/structs"
)

type inner struct {
	Deep   string `json:"deep"`
	Hidden string `json:"name"`
}

type unexported struct {
	Promoted int `json:"promoted"`
}

type loop struct {
	*loop        //nolint:unused // looked at by reflection
	Name  string `json:"name"`
}

// scream encodes itself, by its pointer only.
type scream struct{ text string }

func (s *scream) MarshalJSON() ([]byte, error) { return json.Marshal(s.text + "!") }

type everything struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	inner
	unexported
	Name     string `json:"name"`
	Named    inner  `json:"named,inline"`
	NoTag    string
	Left     string                       `json:"-"`
	Dash     string                       `json:"-,"` //nolint:staticcheck // a field of the name "-"
	Empty    string                       `json:"empty,omitempty"`
	Zero     time.Time                    `json:"zero,omitzero"`
	Pointer  *int32                       `json:"pointer,omitempty"`
	Nil      *inner                       `json:"nil"`
	List     []inner                      `json:"list"`
	NilList  []string                     `json:"nilList"`
	Array    [2]bool                      `json:"array"`
	Map      map[string]uint8             `json:"map"`
	NilMap   map[string]string            `json:"nilMap"`
	Bytes    []byte                       `json:"bytes"`
	Any      any                          `json:"any"`
	Float    float64                      `json:"float"`
	Big      uint64                       `json:"big"`
	Time     metav1.Time                  `json:"time"`
	Micro    metav1.MicroTime             `json:"micro"`
	Quantity resource.Quantity            `json:"quantity"`
	Port     intstr.IntOrString           `json:"port"`
	Amounts  map[string]resource.Quantity `json:"amounts"`
	Scream   scream                       `json:"scream"`
	private  string
}

func sample() *everything {
	three, at := int32(3), time.Date(2026, 5, 6, 12, 0, 0, 0, time.FixedZone("CEST", 7200))
	e := &everything{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "E"}, ObjectMeta: metav1.ObjectMeta{Name: "n", Generation: 4, DeletionTimestamp: &metav1.Time{Time: at}},
		inner: inner{Deep: "d", Hidden: "h"}, unexported: unexported{7}, Name: "outer", Named: inner{Deep: "x"}, NoTag: "t", Left: "l", Dash: "dash",
		Pointer: &three, List: []inner{{Deep: "1"}}, Array: [2]bool{true}, Map: map[string]uint8{"a": 1}, Bytes: []byte("bytes"),
		Any: map[string]any{"x": int64(1), "y": []any{"z"}}, Float: 1.5, Big: 1 << 63, Time: metav1.NewTime(at), Micro: metav1.NewMicroTime(at),
		Quantity: resource.MustParse("1.5Gi"), Port: intstr.FromString("http"), Scream: scream{"a"}, private: "p",
		Amounts: map[string]resource.Quantity{"cpu": resource.MustParse("100m")},
	}
	return e
}

type (
	far    struct{ near }
	near   struct{ Key, Other string }
	tagged struct {
		Tagged string `json:"Key"`
	}
	rival struct{ Key, Twice string }
)

// TestDocument compares to what encoding and decoding gives.
func TestDocument(t *testing.T) {
	t.Parallel()
	for reason, value := range map[string]any{
		"everything": sample(), "nothing": &everything{}, "nil inside": &struct{ A *everything }{}, "a loop that is nil": &loop{Name: "n"},
		"floats": &struct {
			A       float32
			B, C, D float64
		}{0.1, 3, 1e21, -0.25},
		"the outermost of one key, not the first": &struct {
			far
			*rival
		}{far{near{"far", "o"}}, &rival{"close", "t"}},
		"one whose key is in a tag": &struct {
			near
			tagged
		}{near{"n", "o"}, tagged{"t"}},
		"two as far out with one key are none": &struct {
			near
			rival
		}{near{"n", "o"}, rival{"r", "t"}},
		"and hide the ones inside": &struct {
			far
			Inline struct {
				rival
				tagged
			}
			rival
			near
		}{far: far{near{"far", "o"}}},
		"old times": &struct{ A *metav1.Time }{&metav1.Time{}},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			encoded, err := json.Marshal(value)
			require.NoError(t, err)
			var want any
			require.NoError(t, utiljson.Unmarshal(encoded, &want))
			assert.Equal(t, want, structs.Document(reflect.ValueOf(value).Elem()))
		})
	}
	t.Run("some keys are left out at the top only", func(t *testing.T) {
		t.Parallel()
		document := structs.Document(reflect.ValueOf(sample()).Elem(), "name", "metadata").(map[string]any)
		assert.NotContains(t, document, "name")
		assert.NotContains(t, document, "metadata")
		assert.Contains(t, document["list"].([]any)[0], "name")
	})
	t.Run("what contains itself, and more than once, is nil there", func(t *testing.T) {
		t.Parallel()
		type node struct{ A, B, C any }
		n := &node{}
		n.A, n.B = n, node{A: n, C: "x"}
		assert.Equal(t, map[string]any{"A": nil, "B": map[string]any{"A": nil, "B": nil, "C": "x"}, "C": nil}, structs.Document(reflect.ValueOf(n)))
		m := map[string]any{"c": "x"}
		m["a"], m["b"] = m, []any{m}
		assert.Equal(t, map[string]any{"a": nil, "b": []any{nil}, "c": "x"}, structs.Document(reflect.ValueOf(m)))
		l := []any{nil, nil, "x"}
		l[0], l[1] = l, &l
		assert.Equal(t, []any{nil, nil, "x"}, structs.Document(reflect.ValueOf(l)))
	})
	t.Run("what is there twice, and not inside of itself, is there twice", func(t *testing.T) {
		t.Parallel()
		shared := &inner{Deep: "d"}
		document := map[string]any{"deep": "d", "name": ""}
		assert.Equal(t, []any{document, document}, structs.Document(reflect.ValueOf([]*inner{shared, shared})))
	})
	t.Run("deep nesting is kept up to a bound", func(t *testing.T) {
		t.Parallel()
		depth := func(n int) (levels int) {
			var nested any = "x"
			for range n {
				nested = map[string]any{"a": nested}
			}
			var ok bool
			for document := structs.Document(reflect.ValueOf(nested)); ; levels++ {
				var level map[string]any
				if level, ok = document.(map[string]any); !ok {
					return levels
				}
				document = level["a"]
			}
		}
		assert.Equal(t, 90, depth(90))
		assert.Less(t, depth(10_000), 300)
	})
	t.Run("what can't be encoded is nil", func(t *testing.T) {
		t.Parallel()
		for _, value := range []any{math.NaN(), math.Inf(-1), make(chan int), func() {}, complex(1, 2), map[int]string{1: "a"}} {
			assert.Nil(t, structs.Document(reflect.ValueOf(value)), "%T", value)
		}
	})
}

func TestIndex(t *testing.T) {
	t.Parallel()
	whole := reflect.TypeFor[everything]()
	for _, c := range []struct {
		key  string
		path string
	}{
		{"kind", "Kind"}, {"deep", "Deep"}, {"promoted", "Promoted"}, {"name", "Name"}, {"NoTag", "NoTag"}, {"-", "Dash"}, {"named", "Named"},
	} {
		index := structs.Index(whole, c.key)
		require.NotNil(t, index, c.key)
		assert.Equal(t, c.path, whole.FieldByIndex(index).Name)
	}
	for _, key := range []string{"Left", "private", "absent", ""} {
		assert.Nil(t, structs.Index(whole, key), key)
	}
	assert.Nil(t, structs.Index(reflect.TypeFor[string](), "a"), "no struct has no fields")
	assert.NotNil(t, structs.Index(reflect.TypeFor[loop](), "name"), "a struct that embeds itself")
}

func TestSettle(t *testing.T) {
	t.Parallel()
	type Deep struct {
		Text string `json:"text"`
	}
	type object struct {
		Part *struct {
			*Deep `json:",inline"`
		} `json:"part"`
	}
	part := structs.Index(reflect.TypeFor[object](), "part")
	text := structs.Index(reflect.TypeFor[object]().Field(0).Type.Elem(), "text")
	o := &object{}
	_, ok := structs.At(reflect.ValueOf(o).Elem(), append(part, text...))
	assert.False(t, ok, "a nil pointer is on the way")
	assert.Nil(t, o.Part, "reading writes nothing")
	field, ok := structs.MakeAt(reflect.ValueOf(o).Elem(), append(part, text...))
	require.True(t, ok)
	field.SetString("x")
	assert.Equal(t, "x", o.Part.Text)
	field, ok = structs.At(reflect.ValueOf(o).Elem(), append(part, text...))
	require.True(t, ok)
	assert.Equal(t, "x", field.String())
	_, ok = structs.MakeAt(reflect.ValueOf(object{}), append(part, text...))
	assert.False(t, ok, "what can't be addressed can't be written to")
	index := structs.Index(reflect.TypeFor[loop](), "name")
	_, ok = structs.MakeAt(reflect.ValueOf(&loop{}).Elem(), append([]int{0}, index...))
	assert.False(t, ok, "a pointer whose field isn't exported")
}
