package conversion_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/operkit/operkit/reconcile/conversion"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apijson "k8s.io/apimachinery/pkg/util/json"
)

type object = map[string]any

func TestConvert(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		from   *unstructured.Unstructured
		to     string
		spec   object
		status any
		kept   string
	}{
		{"a renamed and a moved field", shop(v1, object{"count": int64(3), "colour": "red"}, nil), "v2", object{"replicas": int64(3), "paint": object{"colour": "red"}}, nil, ""},
		{"and back", shop(v2, object{"replicas": int64(3), "paint": object{"colour": "red"}}, nil), "v1", object{"count": int64(3), "colour": "red"}, nil, ""},
		{"the status, too", shop(v1, object{"count": int64(1)}, object{"open": true}), "v2", object{"replicas": int64(1)}, object{"phase": "Open"}, ""},
		{"the same version", shop(v1, object{"count": int64(1), "unknown": "x"}, nil), "v1", object{"count": int64(1), "unknown": "x"}, nil, ""},
		{"what the hub can't hold is kept", shop(v1, object{"count": int64(1), "motto": "tea"}, nil), "v2", object{"replicas": int64(1)}, nil,
			`v1 {"was":{"spec":{"motto":null}},"is":{"spec":{"motto":"tea"}}}`},
		{"what only the hub can hold is kept", shop(v2, object{"replicas": int64(1), "metres": int64(37), "hours": []any{"9-5"}}, nil), "v1", object{"count": int64(1), "size": "large"}, nil,
			`v2 {"was":{"spec":{"hours":null,"metres":20}},"is":{"spec":{"hours":["9-5"],"metres":37}}}`},
		{"what the type doesn't know is kept", shop(v2, object{"replicas": int64(1), "paint": object{"unknown": "x"}}, nil), "v1", object{"count": int64(1)}, nil,
			`v2 {"was":{"spec":{"paint":null}},"is":{"spec":{"paint":{"unknown":"x"}}}}`},
		{"between two that aren't the hub", shop(v1, object{"count": int64(2)}, nil), "v3", object{"n": int64(2)}, nil, ""},
	} {
		t.Run("conversion 1: "+row.reason, func(t *testing.T) {
			t.Parallel()
			before := row.from.DeepCopy()
			after, err := shops(t).Convert(row.from, row.to)
			require.NoError(t, err)
			assert.Equal(t, before, row.from, "the object that was passed stays")
			assert.Equal(t, "example.com/"+row.to, after.GetAPIVersion())
			assert.Equal(t, row.spec, after.Object["spec"])
			assert.Equal(t, row.status, after.Object["status"])
			annotations := after.GetAnnotations()
			assert.Equal(t, "joe", annotations["who"])
			for _, version := range []string{"v1", "v2", "v3"} {
				if text, ok := annotations["operkit.dev/kept-"+version]; ok {
					assert.Equal(t, row.kept, version+" "+text)
					row.kept = ""
				}
			}
			assert.Empty(t, row.kept)
		})
	}
}

func TestChangedMeanwhile(t *testing.T) {
	t.Parallel()
	t.Run("conversion 2: what was kept is put back, except for what was changed in the other version", func(t *testing.T) {
		t.Parallel()
		c := shops(t)
		old, err := c.Convert(shop(v2, object{"replicas": int64(1), "metres": int64(37), "hours": []any{"9-5"}, "paint": object{"colour": "red", "gloss": true}}, nil), "v1")
		require.NoError(t, err)
		spec := old.Object["spec"].(object)
		spec["size"], spec["colour"] = "small", "blue"
		back, err := c.Convert(old, "v2")
		require.NoError(t, err)
		assert.Equal(t, object{"replicas": int64(1), "metres": int64(5), "hours": []any{"9-5"}, "paint": object{"colour": "blue", "gloss": true}}, back.Object["spec"])
		assert.Equal(t, map[string]string{"who": "joe"}, back.GetAnnotations())
	})
	t.Run("conversion 2: an annotation that isn't what a conversion has written is an error that says what to do", func(t *testing.T) {
		t.Parallel()
		bad := shop(v1, object{"count": int64(1)}, nil)
		bad.SetAnnotations(map[string]string{"operkit.dev/kept-v2": "{"})
		_, err := shops(t).Convert(bad, "v2")
		assert.ErrorContains(t, err, "Shop ns/tea: to version v2: annotation operkit.dev/kept-v2: it isn't what a conversion has written: remove it")
	})
	t.Run("conversion 2: an annotation can't change what the object is", func(t *testing.T) {
		t.Parallel()
		bad := shop(v1, object{"count": int64(1)}, nil)
		bad.SetAnnotations(map[string]string{"operkit.dev/kept-v2": `{"is":{"kind":"Other","metadata":{"name":"x"},"apiVersion":"v9"}}`})
		after, err := shops(t).Convert(bad, "v2")
		require.NoError(t, err)
		assert.Equal(t, v2, after.GroupVersionKind())
		assert.Equal(t, "tea", after.GetName())
	})
}

type doorV1 struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		Wide  bool `json:"wide"`
		Doors int  `json:"doors,omitempty"`
	} `json:"spec"`
}

type doorV2 struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		Metres float64   `json:"metres"`
		Doors  []float64 `json:"doors,omitempty"`
	} `json:"spec"`
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	c := conversion.New[doorV2](v2)
	conversion.Add(c, v1, conversion.Functions[doorV1, doorV2]{
		Up: func(from *doorV1, to *doorV2) error {
			if to.Spec.Metres = 1; from.Spec.Wide {
				to.Spec.Metres = 2
			}
			to.Spec.Doors = make([]float64, from.Spec.Doors)
			return nil
		},
		Down: func(from *doorV2, to *doorV1) error {
			to.Spec.Wide, to.Spec.Doors = from.Spec.Metres > 1, len(from.Spec.Doors)
			return nil
		},
	})
	for _, metres := range []any{int64(5), 5.0, 2.5, 1e20} {
		t.Run("conversion 7: a fraction that is whole is kept like any other", func(t *testing.T) {
			t.Parallel()
			there, err := c.Convert(shop(v2, object{"metres": metres, "doors": []any{metres, int64(0)}}, nil), "v1")
			require.NoError(t, err)
			back, err := c.Convert(there, "v2")
			require.NoError(t, err)
			want := metres
			if metres == 5.0 {
				want = int64(5)
			}
			assert.Equal(t, object{"metres": want, "doors": []any{want, int64(0)}}, back.Object["spec"])
		})
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		from   *unstructured.Unstructured
		to     string
		says   string
	}{
		{"a function's error", shop(v1, object{"colour": "invisible"}, nil), "v2", "Shop ns/tea: to version v2: spec.colour: it can't be invisible"},
		{"an unknown version", shop(v1, object{}, nil), "v9", "to version v9: no functions convert from version v1: there are [v2 v1 v3]"},
		{"an object of an unknown version", shop(schema.GroupVersionKind{Group: "example.com", Version: "v0", Kind: "Shop"}, object{}, nil), "v2", "no functions convert from version v0"},
		{"another kind", shop(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Other"}, object{}, nil), "v2", "the object is a Other.example.com, and not a Shop.example.com"},
		{"a field of another form", shop(v1, object{"count": "three"}, nil), "v2", "spec.count"},
	} {
		t.Run("conversion 3: "+row.reason+" names the object", func(t *testing.T) {
			t.Parallel()
			_, err := shops(t).Convert(row.from, row.to)
			assert.ErrorContains(t, err, "ns/tea")
			assert.ErrorContains(t, err, row.says)
		})
	}
	t.Run("conversion 3: a panic is an error", func(t *testing.T) {
		t.Parallel()
		c := conversion.New[shopV2](v2)
		conversion.Add(c, v3, conversion.Functions[shopV3, shopV2]{Up: func(*shopV3, *shopV2) error { panic("odd") }, Down: func(*shopV2, *shopV3) error { return nil }})
		_, err := c.Convert(shop(v3, object{}, nil), "v2")
		assert.ErrorContains(t, err, "odd")
	})
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	t.Run("conversion 4: all mistakes of a registration are one error", func(t *testing.T) {
		t.Parallel()
		c := conversion.New[shopV2](v2)
		conversion.Add(c, v2, conversion.Functions[shopV2, shopV2]{})
		conversion.Add(c, schema.GroupVersionKind{Group: "other.com", Version: "v1", Kind: "Shop"}, conversion.Functions[shopV1, shopV2]{Up: upFromV1, Down: downToV1})
		conversion.Add(c, v3, conversion.Functions[shopV3, shopV2]{})
		assert.EqualError(t, c.Check(), `conversion of Shop: version v2: is there twice
other.com/v1, Kind=Shop: another kind than the hub example.com/v2, Kind=Shop
version v3: both functions are needed`)
		assert.ErrorContains(t, conversion.New[shopV2](v2).Check(), "nothing to convert")
	})
}

// FuzzRoundTrip converts any object from any version through any other and back: it is as it was.
func FuzzRoundTrip(f *testing.F) {
	f.Add(uint8(0), uint8(1), `{"spec":{"count":3,"colour":"red","size":"small","motto":"tea","unknown":[{}]},"status":{"open":true}}`)
	f.Add(uint8(1), uint8(0), `{"spec":{"replicas":3,"paint":{"colour":"red","gloss":true},"metres":37,"hours":["9"],"extra":{"a":"b"}}}`)
	f.Add(uint8(1), uint8(2), `{"spec":{"replicas":3,"paint":{},"extra":{"a":"b"}},"status":{"phase":"Odd","x":{"y":null}},"more":1}`)
	f.Add(uint8(2), uint8(0), `{"spec":{"n":3},"status":{}}`)
	kinds := []schema.GroupVersionKind{v1, v2, v3}
	c := shops(f)
	f.Fuzz(func(t *testing.T, from, through uint8, text string) {
		var content object
		if apijson.Unmarshal([]byte(text), &content) != nil || content == nil {
			return
		}
		given := shop(kinds[int(from)%3], nil, nil)
		for key, value := range content {
			if key != "metadata" && key != "apiVersion" && key != "kind" {
				given.Object[key] = value
			}
		}
		whole, err := c.Convert(given, kinds[(int(from)+1)%3].Version) // with all that its type writes
		if err != nil {
			return
		}
		if given, err = c.Convert(whole, given.GroupVersionKind().Version); err != nil {
			t.Fatal(err)
		}
		there, err := c.Convert(given, kinds[int(through)%3].Version)
		require.NoError(t, err)
		back, err := c.Convert(there, given.GroupVersionKind().Version)
		require.NoError(t, err)
		want, err := json.Marshal(given)
		require.NoError(t, err)
		got, err := json.Marshal(back)
		require.NoError(t, err)
		assert.JSONEq(t, string(want), string(got), "through %s", there)
	})
}

func TestVersions(t *testing.T) {
	t.Parallel()
	t.Run("conversion 8: versions are the hub, and the others by name, with functions that can be called alone", func(t *testing.T) {
		t.Parallel()
		versions := shops(t).Versions()
		require.Len(t, versions, 3)
		assert.Equal(t, []schema.GroupVersionKind{v2, v1, v3}, []schema.GroupVersionKind{versions[0].Kind, versions[1].Kind, versions[2].Kind})
		assert.Nil(t, versions[0].Up)
		assert.Equal(t, reflect.TypeFor[shopV1](), versions[1].Type)
		from, to := &shopV1{}, &shopV2{}
		from.Spec.Count = 3
		require.NoError(t, versions[1].Up(from, to))
		assert.EqualValues(t, 3, to.Spec.Replicas)
		assert.EqualError(t, versions[1].Down(from, to), "*conversion_test.shopV1 to *conversion_test.shopV2: want *conversion_test.shopV2 to *conversion_test.shopV1")
	})
}
