package smp

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/smp/internal/document"
)

// thing has every way to merge in few fields, so that random documents and patches meet.
type thing struct {
	Name     string            `json:"name"`
	A        string            `json:"a"`
	B        int               `json:"b"`
	Labels   map[string]string `json:"labels"`
	Sub      *thing            `json:"sub"`
	Replaced *thing            `json:"replaced" patchStrategy:"replace"`
	Retained *thing            `json:"retained" patchStrategy:"retainKeys"`
	Objects  []thing           `json:"objects" patchStrategy:"merge" patchMergeKey:"name"`
	Numbered []thing           `json:"numbered" patchStrategy:"merge,retainKeys" patchMergeKey:"b"`
	Set      []string          `json:"set" patchStrategy:"merge"`
	Atomic   []thing           `json:"atomic"`
}

// author makes documents and patches of things.
type author struct{ *rand.Rand }

func (a author) chance(percent int) bool { return a.IntN(100) < percent }

func (a author) word() any { return string(rune('a' + a.IntN(4))) }

func (a author) number() any {
	if a.chance(20) {
		return float64(80 + a.IntN(3))
	}
	return int64(80 + a.IntN(3))
}

// thing is a thing, as a document or, with the mistakes and directives of one, as a patch.
func (a author) thing(depth int, patch bool) map[string]any {
	out := map[string]any{}
	for range 1 + a.IntN(4) {
		name, value := a.field(depth, patch)
		out[name] = value
	}
	if patch {
		a.direct(out, depth)
	}
	return out
}

func (a author) field(depth int, patch bool) (string, any) {
	if patch && a.chance(15) {
		return a.fieldName(), a.odd()
	}
	switch choice := a.IntN(10); {
	case choice == 0:
		return "a", a.word()
	case choice == 1:
		return "b", a.number()
	case choice == 2 || depth == 0:
		return "labels", map[string]any{a.word().(string): a.word()}
	case choice <= 4:
		return []string{"sub", "sub", "replaced", "retained"}[a.IntN(4)], a.thing(depth-1, patch)
	case choice <= 6:
		return "objects", a.things(depth-1, "name", patch)
	case choice == 7:
		return "numbered", a.things(depth-1, "b", patch)
	case choice == 8:
		return "set", a.words()
	default:
		return "atomic", a.things(depth-1, "name", patch)
	}
}

func (a author) fieldName() string {
	names := []string{"a", "b", "labels", "sub", "replaced", "retained", "objects", "numbered", "set", "atomic", "unknown"}
	return names[a.IntN(len(names))]
}

func (a author) words() []any {
	words := make([]any, a.IntN(5))
	for i := range words {
		words[i] = a.word()
	}
	return words
}

func (a author) things(depth int, key string, patch bool) []any {
	list := make([]any, a.IntN(4))
	for i := range list {
		element := a.thing(depth, patch)
		if element[key] = a.word(); key == "b" {
			element[key] = a.number()
		}
		if patch && a.chance(12) {
			element["$patch"] = a.mark()
		}
		if a.chance(2) {
			delete(element, key)
		}
		list[i] = element
	}
	return list
}

func (a author) mark() any {
	return []any{"replace", "delete", "delete", "merge", "other", int64(1)}[a.IntN(6)]
}

func (a author) odd() any {
	odd := []any{nil, nil, "a", int64(1), true, map[string]any{"a": nil}, []any{}, []any{"a"}, []any{map[string]any{"name": "a", "x": nil}}, []any{"a", int64(1)}}
	return copied(odd[a.IntN(len(odd))])
}

// direct adds directives to a patch.
func (a author) direct(patch map[string]any, depth int) {
	if a.chance(5) {
		patch["$patch"] = a.mark()
	}
	if a.chance(8) {
		keys := []any{}
		for key := range patch {
			if a.chance(90) {
				keys = append(keys, key)
			}
		}
		patch["$retainKeys"] = append(keys, "a")
	}
	if a.chance(12) {
		patch["$deleteFromPrimitiveList/set"] = []any{a.words(), a.words(), nil, "a"}[a.IntN(4)]
	}
	if !a.chance(25) {
		return
	}
	field, key := "objects", "name"
	switch a.IntN(3) {
	case 0:
		field, key = "set", ""
	case 1:
		field, key = "numbered", "b"
	}
	order := []any{}
	list, _ := patch[field].([]any)
	for _, element := range slices.Concat(list, a.order(depth, key)) {
		if fields, isMap := element.(map[string]any); isMap && fields[key] != nil {
			element = map[string]any{key: fields[key]}
		}
		order = append(order, element)
	}
	if a.chance(20) {
		a.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	patch["$setElementOrder/"+field] = order
}

func (a author) order(depth int, key string) []any {
	if key == "" {
		return a.words()
	}
	return a.things(min(depth, 0), key, false)
}

// FuzzStrategicAgainstModel: the engine does what the rules say, as the reference reads them.
func FuzzStrategicAgainstModel(f *testing.F) {
	schema, err := SchemaFromType(thing{})
	require.NoError(f, err)
	for seed := range uint64(500) {
		f.Add(seed, seed)
	}
	f.Fuzz(func(t *testing.T, one, two uint64) {
		a := author{rand.New(rand.NewPCG(one, two))}
		doc, patch := a.thing(2, false), a.thing(2, true)
		doc["kind"] = "Thing"
		docBefore, patchBefore := copied(doc), copied(patch)
		schema := schema
		if a.chance(20) {
			schema = Schema{}
		}
		want, wantErr := reference(doc, patch, schema)
		for _, o := range [][]Option{nil, {Shared()}} {
			got, err := Strategic(doc, patch, schema, append(o, AllowIdentityChange())...)
			if (wantErr == nil) != (err == nil) || err == nil && !document.Equal(want, got) {
				t.Fatalf("document  %s\npatch     %s\nengine    %s, %v\nreference %s, %v", line(doc), line(patch), line(got), err, line(want), wantErr)
			}
			if !reflect.DeepEqual(docBefore, any(doc)) || !reflect.DeepEqual(patchBefore, any(patch)) {
				t.Fatalf("an input was changed: document %s patch %s", line(docBefore), line(patchBefore))
			}
		}
	})
}

func line(value any) string {
	text, err := document.Append(nil, value)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
