package typed

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

type claim struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`
	Spec              spec   `json:"spec"`
	Status            status `json:"status,omitzero"`
}

type spec struct {
	Size   *int64            `json:"size,omitempty"`
	Mode   string            `json:"mode"`
	Limits map[string]string `json:"limits,omitempty"`
	Ports  []port            `json:"ports,omitempty"`
	TLS    *tls              `json:"tls,omitempty"`
	Values map[string]any    `json:"values,omitempty"`
}

type port struct {
	Name   string `json:"name"`
	Number int32  `json:"number,omitempty"`
}

type tls struct {
	Secret string `json:"secret,omitempty"`
}

type status struct {
	Volume string      `json:"volume,omitempty"`
	Since  metav1.Time `json:"since,omitzero"`
	Disk   disk        `json:"disk,omitzero"`
}

type disk struct {
	Used int64 `json:"used,omitempty"`
}

type object = map[string]any

// claimed returns a Claim with parts of it replaced.
func claimed(parts object) object {
	base := object{"apiVersion": "example.dev/v1", "kind": "Claim", "metadata": object{"name": "a", "namespace": "shop"}}
	maps.Copy(base, parts)
	return base
}

func TestDecode(t *testing.T) {
	t.Parallel()
	given := claimed(object{
		"spec":   object{"size": int64(3), "mode": "fast", "unknown": "x", "ports": []any{object{"name": "web", "number": 80.0}}, "values": object{"a": object{"b": "c"}}},
		"status": object{"since": "2026-01-01T00:00:00Z"},
	})
	copied := runtime.DeepCopyJSON(given)
	got, err := Decode[claim](given)
	require.NoError(t, err)
	assert.Equal(t, "Claim", got.Kind)
	assert.Equal(t, "shop/a", got.Namespace+"/"+got.Name)
	assert.Equal(t, int64(3), *got.Spec.Size)
	assert.Equal(t, []port{{"web", 80}}, got.Spec.Ports)
	assert.Equal(t, 2026, got.Status.Since.Year())
	got.Spec.Values["a"].(object)["b"] = "changed"
	assert.Equal(t, copied, given, "handlers 60: nothing is shared with the object")

	same, err := Decode[unstructured.Unstructured](given)
	require.NoError(t, err)
	assert.Equal(t, given, same.Object)
	same.Object["spec"].(object)["values"].(object)["a"] = "changed"
	assert.Equal(t, copied, given, "handlers 60: not by an unstructured object either")
}

func TestDecodeErrors(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		parts  object
		want   string
	}{
		{"handlers 60: a text for a number", object{"spec": object{"mode": "x", "size": "3"}}, "Claim shop/a: spec.size: typed.claim can't hold a string there: "},
		{"handlers 60: a fraction for a number", object{"spec": object{"size": 1.5}}, "Claim shop/a: spec.size: typed.claim can't hold a fraction there: "},
		{"handlers 60: within a list", object{"spec": object{"ports": []any{object{"name": "a"}, object{"number": "b"}}}}, "Claim shop/a: spec.ports[1].number: typed.claim can't hold"},
		{"handlers 60: within a map", object{"spec": object{"limits": object{"a": "b", "c": int64(1)}}}, "Claim shop/a: spec.limits.c: typed.claim can't hold a number there"},
		{"handlers 60: a list for a struct", object{"spec": []any{}}, "Claim shop/a: spec: typed.claim can't hold a list there"},
		{"handlers 60: a type with a form of its own", object{"status": object{"since": "today"}}, "Claim shop/a: status.since: typed.claim can't hold"},
		{"handlers 60: the first of two in the order of their names", object{"spec": object{"size": "3"}, "status": "x"}, "Claim shop/a: spec.size: typed.claim can't hold"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			got, err := Decode[claim](claimed(row.parts))
			assert.Nil(t, got)
			assert.ErrorContains(t, err, row.want)
		})
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	type loop struct {
		Next *loop `json:"next,omitempty"`
	}
	for _, row := range []struct {
		reason string
		err    error
		want   string
	}{
		{"handlers 62: a struct", Check[claim](), ""},
		{"handlers 62: any kind", Check[unstructured.Unstructured](), ""},
		{"handlers 62: metadata only", Check[metav1.PartialObjectMetadata](), ""},
		{"handlers 62: a type that holds itself", Check[loop](), ""},
		{"handlers 62: a pointer", Check[*claim](), "type *typed.claim: isn't a struct"},
		{"handlers 62: a field that isn't exported", Check[struct{ A struct{ inner string } }](), "field A.inner: isn't exported"},
		{"handlers 62: also without a name in objects", Check[struct {
			b int `json:"-"`
		}](), "field b: isn't exported"},
		{"handlers 62: a channel", Check[struct{ C []chan int }](), "field C: chan int has no form"},
		{"handlers 62: an interface with methods", Check[struct{ E error }](), "field E: an interface with methods"},
		{"handlers 62: keys that are numbers", Check[struct{ M map[int]string }](), "field M: a map whose keys aren't strings"},
		{"handlers 62: two at once", Check[struct {
			F func()
			G [2]int
		}](), "field F: func() has no form in an object: use another type, or keep the value elsewhere\nfield G: [2]int"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			if row.want == "" {
				assert.NoError(t, row.err)
				return
			}
			assert.ErrorContains(t, row.err, row.want)
		})
	}
	_, err := Decode[struct{ inner string }](object{})
	assert.ErrorContains(t, err, "field inner", "handlers 62: instead of a panic of the converter")
}

func TestEncode(t *testing.T) {
	t.Parallel()
	full := claimed(object{
		"spec": object{
			"size": int64(3), "mode": "fast", "x": "y", "limits": object{"a": "b", "c": "d"}, "ports": []any{object{"name": "web", "x": "y"}},
			"tls": object{"secret": "s", "x": "y"},
		},
		"status": object{"volume": "v", "disk": object{"used": int64(1), "x": "y"}, "x": "y"},
	})
	for _, row := range []struct {
		reason string
		change func(c *claim)
		want   object
	}{
		{"handlers 61: nothing has changed", func(*claim) {}, object{}},
		{"handlers 61: a field", func(c *claim) { c.Status.Volume = "w" }, object{"status": object{"volume": "w"}}},
		{"handlers 61: a field that wasn't there", func(c *claim) { c.Labels = map[string]string{"a": "b"} }, object{"metadata": object{"labels": object{"a": "b"}}}},
		{"handlers 61: a pointer that is nil now", func(c *claim) { c.Spec.TLS = nil }, object{"spec": object{"tls": nil}}},
		{"handlers 61: a struct that is zero now keeps what the type doesn't have", func(c *claim) { c.Status = status{} },
			object{"status": object{"volume": nil, "disk": object{"used": nil}}}},
		{"handlers 61: a key of a map", func(c *claim) { delete(c.Spec.Limits, "a") }, object{"spec": object{"limits": object{"a": nil}}}},
		{"handlers 61: the last keys of a map", func(c *claim) { clear(c.Spec.Limits) }, object{"spec": object{"limits": nil}}},
		{"handlers 61: lists are replaced as a whole", func(c *claim) { c.Spec.Ports = append(c.Spec.Ports, port{Name: "b"}) },
			object{"spec": object{"ports": []any{object{"name": "web"}, object{"name": "b"}}}}},
		{"handlers 61: an element that isn't changed stays as it was", func(c *claim) { c.Spec.Ports = []port{{Name: "web"}} }, object{}},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			before, err := Decode[claim](full)
			require.NoError(t, err)
			after, err := Decode[claim](full)
			require.NoError(t, err)
			row.change(after)
			patch, err := Encode(before, after)
			require.NoError(t, err)
			assert.Equal(t, row.want, patch)
		})
	}
}

func TestEncodeUnstructured(t *testing.T) {
	t.Parallel()
	full := claimed(object{"spec": object{"size": int64(3), "x": nil, "list": []any{nil}}})
	before, err := Decode[unstructured.Unstructured](full)
	require.NoError(t, err)
	after := before.DeepCopy()
	patch, err := Encode(before, after)
	require.NoError(t, err)
	assert.Empty(t, patch)
	after.SetLabels(map[string]string{"a": "b"})
	after.Object["spec"].(object)["size"] = nil
	after.Object["status"] = object{"n": 3, "m": map[string]string{"a": "b"}} // not as in an object that was read
	patch, err = Encode(before, after)
	require.NoError(t, err)
	assert.Equal(t, object{"metadata": object{"labels": object{"a": "b"}}, "spec": object{"size": nil}, "status": object{"n": int64(3), "m": object{"a": "b"}}}, patch,
		"handlers 61: null is the same as absent")
}

func TestEncodeErrors(t *testing.T) {
	t.Parallel()
	type wide struct {
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata"`
		Size              uint64 `json:"size"`
	}
	before, err := Decode[wide](claimed(nil))
	require.NoError(t, err)
	after := *before
	after.Size = 1 << 63
	_, err = Encode(before, &after)
	assert.ErrorContains(t, err, "Claim shop/a: typed.wide can't be written as an object: unsigned value")
	after.Size, after.Name = 1, "b"
	patch, err := Encode(before, &after)
	require.NoError(t, err)
	_, err = Apply(claimed(nil), patch)
	assert.ErrorContains(t, err, "Claim shop/a: ", "handlers 61: a patch makes no other object")
}

// dice makes objects and changes by chance.
type dice struct{ *rand.Rand }

func (d dice) maybe(into object, key string, value any) {
	if d.IntN(2) == 0 {
		into[key] = value
	}
}

// object returns a Claim with fields that the type has, and, if unknown is set, others.
func (d dice) object(unknown bool) object {
	own, disk, tls, ports := object{}, object{}, object{}, []any{}
	d.maybe(own, "size", int64(d.IntN(3)))
	d.maybe(own, "mode", fmt.Sprint(d.IntN(3)))
	d.maybe(own, "limits", object{fmt.Sprint(d.IntN(3)): fmt.Sprint(d.IntN(2)), "c": "d"})
	d.maybe(own, "values", object{fmt.Sprint(d.IntN(3)): object{fmt.Sprint(d.IntN(2)): []any{int64(d.IntN(2))}}})
	for range d.IntN(3) {
		ports = append(ports, object{"name": fmt.Sprint(d.IntN(2))})
	}
	d.maybe(own, "ports", ports)
	d.maybe(tls, "secret", fmt.Sprint(d.IntN(3)))
	d.maybe(own, "tls", tls)
	state := object{}
	d.maybe(state, "volume", fmt.Sprint(d.IntN(3)))
	d.maybe(disk, "used", int64(d.IntN(3)))
	d.maybe(state, "disk", disk)
	parts := object{"spec": own}
	d.maybe(parts, "status", state)
	if unknown {
		for _, part := range []object{parts, own, tls, state, disk} {
			d.maybe(part, "x", object{"y": nil, "z": fmt.Sprint(d.IntN(9))})
			d.maybe(part, "n", nil)
		}
	}
	return claimed(parts)
}

// unknown returns the fields that the type doesn't have, by their paths.
func unknown(value any, path string, into object) object {
	content, _ := value.(object)
	for key, field := range content {
		if key == "x" {
			into[path+".x"] = field
		} else if key != "values" {
			unknown(field, path+"."+key, into)
		}
	}
	return into
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2000) {
		d := dice{rand.New(rand.NewPCG(seed, 60))}
		full := d.object(true)
		copied := runtime.DeepCopyJSON(full)
		before, err := Decode[claim](full)
		require.NoError(t, err)
		after, err := Decode[claim](d.object(false))
		require.NoError(t, err)
		patch, err := Encode(before, after)
		require.NoError(t, err)
		applied, err := Apply(full, patch)
		require.NoError(t, err)
		require.Equal(t, copied, full, "seed %d: handlers 61: the object isn't changed", seed)

		got, err := Decode[claim](applied)
		require.NoError(t, err)
		wanted, err := Content(after)
		require.NoError(t, err)
		content, err := Content(got)
		require.NoError(t, err)
		keepStructs(reflect.TypeFor[claim](), content, wanted)
		require.Equal(t, wanted, content, "seed %d: handlers 61: the change is made", seed)

		kept := unknown(full, "", object{})
		if after.Spec.TLS == nil {
			delete(kept, ".spec.tls.x")
		}
		require.Equal(t, kept, unknown(applied, "", object{}), "seed %d: handlers 61: fields that the type doesn't have stay", seed)
	}
}

func TestChange(t *testing.T) {
	t.Parallel()
	type shop struct {
		Spec struct {
			Size int `json:"size,omitempty"`
		} `json:"spec"`
	}
	before := object{"kind": "Shop", "spec": object{"size": int64(1), "color": "red"}}
	after, err := Change(before, func(s *shop) { s.Spec.Size = 2 })
	require.NoError(t, err)
	assert.Equal(t, object{"kind": "Shop", "spec": object{"size": int64(2), "color": "red"}}, after, "fields that the type doesn't have stay")
	assert.Equal(t, object{"kind": "Shop", "spec": object{"size": int64(1), "color": "red"}}, before)
	_, err = Change(object{"spec": "large"}, func(*shop) {})
	assert.Error(t, err)
}
