package wire

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// sent is what the other side has of a value.
func sent(t testing.TB, value any) any {
	t.Helper()
	var text bytes.Buffer
	require.NoError(t, encode(value, &text))
	var got any
	require.NoError(t, Decode(text.Bytes(), &got))
	return got
}

// Values are what they were, by their types, too: a whole number that came as a float would be another content.
func TestValues(t *testing.T) {
	t.Parallel()
	deep := any("the ground")
	for range 200 {
		deep = map[string]any{"below": []any{deep}}
	}
	for reason, value := range map[string]any{
		"no value": nil, "true": true, "false": false, "zero": int64(0), "a negative number": int64(-7),
		"the largest number": int64(math.MaxInt64), "the smallest one": int64(math.MinInt64), "a port": int64(8080),
		"a float": 1.5, "a float that is whole": 2.0, "a large float that is whole": 1e300, "a float that no other type holds": 0.1,
		"a negative zero": math.Copysign(0, -1), "the smallest float": math.SmallestNonzeroFloat64, "endless": math.Inf(1),
		"an empty text": "", "a text": "Grüße, 世界", "a text with a null byte": "a\x00b", "a long text": strings.Repeat("x", 100_000),
		"a text that isn't UTF-8": "a\xff\xfeb", "one that looks like a number": "007", "one that looks like base64": "aGVsbG8=",
		"an empty map": map[string]any{}, "an empty list": []any{}, "a list of nothing": []any{nil, nil},
		"a map of nothing": map[string]any{"a": nil}, "keys of all kinds": map[string]any{"": "empty", "a/b.c": "x", "\xff": "y", "0": int64(0)},
		"a deep value": deep,
	} {
		got := sent(t, value)
		assert.Equal(t, value, got, reason)
		assert.IsType(t, value, got, reason)
	}
	for reason, row := range map[string]struct {
		text string
		want any
	}{
		"bytes are a text": {"\x43abc", "abc"}, "undefined is no value": {"\xf7", nil}, "a short float": {"\xf9\x3e\x00", 1.5}, "a float of 32 bits": {"\xfa\x3f\xc0\x00\x00", 1.5},
	} {
		var got any
		require.NoError(t, Decode(Raw(row.text), &got), reason)
		assert.Equal(t, row.want, got, "%s: others may send it", reason)
	}
	assert.True(t, math.IsNaN(sent(t, math.NaN()).(float64)))
	assert.True(t, math.Signbit(sent(t, math.Copysign(0, -1)).(float64)))
}

// What a hostile side may send and no object holds is an error.
func TestValuesThatAreNone(t *testing.T) {
	t.Parallel()
	for reason, text := range map[string]string{
		"nothing":                        "",
		"a number that no int64 holds":   "\x1b\xff\xff\xff\xff\xff\xff\xff\xff",
		"a negative one":                 "\x3b\xff\xff\xff\xff\xff\xff\xff\xff",
		"a key twice":                    "\xa2\x61a\x01\x61a\x02",
		"a key that is no text":          "\xa1\x01\x02",
		"a value of indefinite length":   "\x9f\x01\xff",
		"nested too deeply":              strings.Repeat("\x81", deepest+1) + "\x01",
		"a list that isn't there":        "\x9a\x7f\xff\xff\xff",
		"a text that isn't there":        "\x7b\x7f\xff\xff\xff\xff\xff\xff\xff",
		"more than one value":            "\x01\x01",
		"a break out of nothing":         "\xff",
		"a reserved additional number":   "\x1c",
		"a list with fewer than it says": "\x83\x01\x02",
		"a time":                         "\xc1\x1a\x51\x4b\x67\xb0",
		"a large number":                 "\xc2\x49\x01\x00\x00\x00\x00\x00\x00\x00\x00",
		"a value with a tag":             "\xd8\x20\x61a",
		"a simple value of no meaning":   "\xf0",
		"another one":                    "\xf8\xff",
	} {
		var got any
		assert.Error(t, Decode(Raw(text), &got), "%s: %v", reason, got)
	}
}

// arbitrary is a value as unstructured objects have them.
func arbitrary(r *rand.Rand, depth int) any {
	kinds := 10
	if depth == 0 {
		kinds = 7
	}
	switch r.IntN(kinds) {
	case 0:
		return nil
	case 1:
		return r.IntN(2) == 0
	case 2:
		return int64(r.Uint64())
	case 3:
		return math.Float64frombits(r.Uint64()&^(0x7ff<<52) | uint64(r.IntN(0x7ff))<<52) // neither endless nor no number
	case 4:
		return int64(r.IntN(300) - 150)
	case 5, 6:
		return arbitraryText(r)
	case 7:
		list := make([]any, r.IntN(5))
		for i := range list {
			list[i] = arbitrary(r, depth-1)
		}
		return list
	}
	return arbitraryMap(r, depth-1)
}

func arbitraryMap(r *rand.Rand, depth int) map[string]any {
	m := make(map[string]any)
	for range r.IntN(6) {
		m[arbitraryText(r)] = arbitrary(r, depth)
	}
	return m
}

func arbitraryText(r *rand.Rand) string {
	text := make([]byte, r.IntN(40)*r.IntN(10))
	for i := range text {
		text[i] = byte(r.IntN(256))
	}
	return string(text)
}

// An object that was sent is one that was copied.
func TestObjectsAreCopies(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		object := &unstructured.Unstructured{Object: arbitraryMap(r, 5)}
		before := object.DeepCopy()
		var text bytes.Buffer
		require.NoError(t, encode(Session{ID: "x", Resource: object.Object}, &text))
		var got Session
		require.NoError(t, Decode(text.Bytes(), &got))
		require.Equal(t, before.Object, got.Resource, "seed %d", seed)
		for i := range text.Bytes() {
			text.Bytes()[i] = 0xff // which others will use
		}
		require.Equal(t, before.Object, got.Resource, "seed %d: nothing is shared with what was read", seed)
	}
}
