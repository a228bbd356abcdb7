package diff

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
)

func TestEqual(t *testing.T) {
	t.Parallel()
	const large = 1 << 53
	for _, row := range []struct {
		reason string
		a, b   any
		want   bool
	}{
		{"handlers 1: whole numbers are equal whatever their types", int64(1), 1.0, true},
		{"handlers 1: a float64 that is rounded isn't the number", int64(large + 1), float64(large), false},
		{"handlers 1: nor on the other side", float64(large), int64(large + 1), false},
		{"handlers 1: a float64 beyond all int64", int64(math.MaxInt64), float64(1 << 63), false},
		{"handlers 1: the smallest int64", int64(math.MinInt64), float64(-1 << 63), true},
		{"handlers 1: a boolean is no number", true, int64(1), false},
		{"handlers 1: a text is no number", "1", int64(1), false},
		{"handlers 1: not a number is what it was", math.NaN(), math.NaN(), true},
		{"handlers 1: in a list a null isn't absent", []any{map[string]any{"a": nil}}, []any{map[string]any{}}, false},
		{"handlers 1: a type that no object has equals nothing", 1, 1, false},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, row.want, Equal(row.a, row.b))
			assert.Equal(t, row.want, Equal(row.b, row.a), "the other way round")
		})
	}
}

func TestString(t *testing.T) {
	t.Parallel()
	var texts []string
	for _, item := range Of(
		map[string]any{"a": int64(1), "b": "x", "c": map[string]any{"d": true}},
		map[string]any{"a": int64(2), "c": map[string]any{"d": true, "e": "new", "f.g": "dotted"}},
	) {
		texts = append(texts, item.String())
	}
	assert.Equal(t, []string{"change .a: 1 -> 2", "remove .b: x", "add .c.e: new", "add .c['f.g']: dotted"}, texts)
}

// applied returns value with the items applied.
func applied(value any, items []Item) any {
	for _, item := range items {
		value = appliedAt(value, item.Path, item.New)
	}
	return value
}

func appliedAt(value any, path []string, to any) any {
	if len(path) == 0 {
		return to
	}
	parent, _ := value.(map[string]any)
	parent[path[0]] = appliedAt(parent[path[0]], path[1:], to)
	return parent
}

// check checks what holds for any two values.
func check(t *testing.T, before, after any) {
	t.Helper()
	beforeCopy, afterCopy := runtime.DeepCopyJSONValue(before), runtime.DeepCopyJSONValue(after)
	items := Of(before, after)
	require.Equal(t, beforeCopy, before, "nothing is changed")
	require.Equal(t, afterCopy, after, "nothing is changed")
	require.True(t, slices.IsSortedFunc(items, func(a, b Item) int { return slices.Compare(a.Path, b.Path) }))
	require.Empty(t, Of(applied(beforeCopy, items), after), "the items lead from one value to the other")
	back := Of(after, before)
	require.Len(t, back, len(items), "there are as many on the way back")
	for i, item := range items {
		require.Equal(t, item.Path, back[i].Path)
		require.Empty(t, Of(item.Old, back[i].New))
		require.NotEmpty(t, Of(item.Old, item.New))
		require.Empty(t, Of(At(before, item.Path), item.Old))
	}
	require.Empty(t, Of(before, before))
}

func TestItemsLeadFromOneValueToTheOther(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 7))
		before := value(r, 4)
		check(t, before, value(r, 4))
		check(t, before, changed(r, runtime.DeepCopyJSONValue(before)))
	}
}

func value(r *rand.Rand, depth int) any {
	kinds := 7
	if depth == 0 {
		kinds = 5
	}
	switch r.IntN(kinds) {
	case 0:
		return nil
	case 1:
		return r.IntN(2) == 0
	case 2:
		return int64(r.IntN(3))
	case 3:
		return float64(r.IntN(4)) / 2
	case 4:
		return string(rune('a' + r.IntN(3)))
	case 5:
		list := make([]any, r.IntN(3))
		for i := range list {
			list[i] = value(r, depth-1)
		}
		return list
	}
	m := map[string]any{}
	for range r.IntN(4) {
		m[string(rune('a'+r.IntN(4)))] = value(r, depth-1)
	}
	return m
}

// changed changes something in a value, mostly deep inside.
func changed(r *rand.Rand, v any) any {
	m, isMap := v.(map[string]any)
	if !isMap || len(m) == 0 || r.IntN(5) == 0 {
		return value(r, 2)
	}
	for key := range m {
		m[key] = changed(r, m[key])
		break
	}
	return m
}

func FuzzOf(f *testing.F) {
	f.Add([]byte(`{"a":{"b":1},"c":[null]}`), []byte(`{"a":{"b":1.0,"d":null},"c":[]}`))
	f.Add([]byte(`null`), []byte(`{}`))
	f.Add([]byte(`9007199254740993`), []byte(`9007199254740992`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		var before, after any
		if json.Unmarshal(a, &before) != nil || json.Unmarshal(b, &after) != nil {
			return
		}
		check(t, before, after)
	})
}
