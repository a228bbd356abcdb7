package conversiontest

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// deepest is how deep values are nested in each other, for types that hold themselves.
const deepest = 8

// generator makes values of Go types.
type generator struct {
	*rand.Rand
	// texts are the texts in JSON that a type with its own UnmarshalJSON accepts.
	texts map[reflect.Type][]string
	// left is how many values the present object may still get.
	left int
}

func newGenerator(source rand.Source) *generator {
	return &generator{Rand: rand.New(source), texts: map[reflect.Type][]string{}}
}

// one reports true once in n times.
func (g *generator) one(n int) bool { return g.IntN(n) == 0 }

func pick[T any](g *generator, values ...T) T { return values[g.IntN(len(values))] }

// fill sets value to any value of its type. depth is how deep it is nested.
func (g *generator) fill(value reflect.Value, depth int) {
	t := value.Type()
	if g.left--; g.left < 0 {
		return
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		g.fillCustom(value)
		return
	}
	switch t.Kind() {
	case reflect.Struct:
		g.fillStruct(value, depth)
	case reflect.Pointer:
		if depth < deepest && !g.one(3) {
			value.Set(reflect.New(t.Elem()))
			g.fill(value.Elem(), depth+1)
		}
	case reflect.Slice:
		g.fillSlice(value, depth)
	case reflect.Array:
		for i := range value.Len() {
			g.fill(value.Index(i), depth+1)
		}
	case reflect.Map:
		g.fillMap(value, depth)
	case reflect.Interface:
		if content := g.any(depth); t.NumMethod() == 0 && content != nil {
			value.Set(reflect.ValueOf(content))
		}
	default:
		g.fillScalar(value)
	}
}

// fillStruct fills all fields except for the metadata.
func (g *generator) fillStruct(value reflect.Value, depth int) {
	for i := range value.NumField() {
		field := value.Type().Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		isHeader := depth == 0 && (name == "metadata" || name == "apiVersion" || name == "kind" || field.Name == "TypeMeta")
		if field.IsExported() && name != "-" && !isHeader {
			g.fill(value.Field(i), depth+1)
		}
	}
}

func (g *generator) fillSlice(value reflect.Value, depth int) {
	if g.one(4) {
		return
	}
	length := 0
	if depth < deepest {
		length = g.IntN(4)
	}
	value.Set(reflect.MakeSlice(value.Type(), length, length))
	for i := range length {
		g.fill(value.Index(i), depth+1)
	}
}

func (g *generator) fillMap(value reflect.Value, depth int) {
	t := value.Type()
	if g.one(4) {
		return
	}
	value.Set(reflect.MakeMap(t))
	if depth >= deepest {
		return
	}
	for range g.IntN(4) {
		key, item := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
		g.fillScalar(key)
		if key.Kind() == reflect.String {
			key.SetString(pick(g, "a", "b", "c", "d/e", "x.y"))
		}
		g.fill(item, depth+1)
		value.SetMapIndex(key, item)
	}
}

func (g *generator) fillScalar(value reflect.Value) {
	switch value.Kind() {
	case reflect.Bool:
		value.SetBool(g.one(2))
	case reflect.String:
		value.SetString(g.text())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if n := g.number(); !value.OverflowInt(n) {
			value.SetInt(n)
		}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if n := g.number(); n >= 0 && !value.OverflowUint(uint64(n)) {
			value.SetUint(uint64(n))
		}
	case reflect.Float32, reflect.Float64:
		value.SetFloat(pick(g, 0, 1, 37, -2, 0.5, 1e10, float64(g.IntN(100))))
	}
}

func (g *generator) text() string {
	if g.one(3) {
		letters := make([]byte, g.IntN(12))
		for i := range letters {
			letters[i] = byte('a' + g.IntN(26))
		}
		return string(letters)
	}
	return pick(g, "", "a", "b", "true", "1", "10Gi", "5m", "a/b:c", "a,b", " ", "Ä\u2028\"\\", "null")
}

func (g *generator) number() int64 {
	return pick(g, 0, 1, 2, -1, 37, 80, 65536, math.MaxInt32, math.MaxInt64, math.MinInt64, int64(g.IntN(1000)))
}

// any returns any value that JSON can have.
func (g *generator) any(depth int) any {
	if depth < deepest && g.one(4) {
		return map[string]any{pick(g, "a", "b"): g.any(depth + 1), "c": g.any(depth + 1)}
	}
	if depth < deepest && g.one(4) {
		return []any{g.any(depth + 1), g.text()}
	}
	return pick[any](g, nil, true, g.text(), g.number(), 0.5)
}

// candidates are texts in JSON, of which a type with its own UnmarshalJSON accepts some.
var candidates = []string{
	`"a"`, `""`, `0`, `1`, `-5`, `80`, `0.5`, `true`, `"80%"`, `"1500m"`, `"10Gi"`, `"2"`, `"5m0s"`, `"1h30m0s"`, `"2024-02-29T12:00:00Z"`,
	`"2024-02-29T12:00:00.000005Z"`, `"10.0.0.1"`, `{"a":1}`, `{}`, `{"a":{"b":[null,"x"]}}`, `[1,"a"]`, `[]`,
}

// fillCustom fills a value whose type has its own UnmarshalJSON, by the candidates that it accepts and writes again.
func (g *generator) fillCustom(value reflect.Value) {
	t := value.Type()
	accepted, known := g.texts[t]
	if !known {
		for _, text := range candidates {
			trial := reflect.New(t)
			if json.Unmarshal([]byte(text), trial.Interface()) != nil {
				continue
			}
			if _, err := json.Marshal(trial.Interface()); err == nil {
				accepted = append(accepted, text)
			}
		}
		g.texts[t] = accepted
	}
	if len(accepted) > 0 && !g.one(4) {
		_ = json.Unmarshal([]byte(pick(g, accepted...)), value.Addr().Interface())
	}
}

// metadata returns the metadata of an object.
func (g *generator) metadata() map[string]any {
	metadata := map[string]any{"name": "generated", "uid": "7d3d3cd5-0000-4000-8000-000000000001", "resourceVersion": "5"}
	for key, value := range map[string]any{
		"namespace": "shop", "generation": int64(3), "creationTimestamp": "2024-02-29T12:00:00Z", "deletionTimestamp": "2024-03-01T12:00:00Z",
		"labels": map[string]any{"a": "b"}, "annotations": map[string]any{"example.com/note": "x"}, "finalizers": []any{"example.com/clean"},
		"ownerReferences": []any{map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "1"}},
	} {
		metadata[key] = value
	}
	for _, key := range []string{"namespace", "generation", "deletionTimestamp", "labels", "annotations", "finalizers", "ownerReferences"} {
		if g.one(3) {
			delete(metadata, key)
		}
	}
	return runtime.DeepCopyJSON(metadata)
}
