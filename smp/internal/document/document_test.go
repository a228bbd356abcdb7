package document_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/smp/internal/document"
)

const depth = 100

func TestDecode(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		text string
		want any
	}{
		"scalars of every type":               {`[null,true,false,"a"]`, []any{nil, true, false, "a"}},
		"empty containers are not nil":        {`[{},[]]`, []any{map[string]any{}, []any{}}},
		"white space anywhere":                {" \t\r\n{ \"a\" :\n[ 1 , 2 ] } ", map[string]any{"a": []any{int64(1), int64(2)}}},
		"the smallest and largest int64":      {`[-9223372036854775808,9223372036854775807]`, []any{int64(math.MinInt64), int64(math.MaxInt64)}},
		"integers an int64 can't hold":        {`[9223372036854775808,12345678901234567890123]`, []any{json.Number("9223372036854775808"), json.Number("12345678901234567890123")}},
		"eighteen and nineteen digits":        {`[123456789012345678,1234567890123456789]`, []any{int64(123456789012345678), int64(1234567890123456789)}},
		"a fraction makes a float64":          {`[1.0,0.1,-2.50]`, []any{1.0, 0.1, -2.5}},
		"an exponent makes a float64":         {`[1e2,1E+2,5e-1]`, []any{100.0, 100.0, 0.5}},
		"minus zero keeps its sign":           {`-0`, math.Copysign(0, -1)},
		"more digits than a float64 keeps":    {`0.12345678901234567890`, json.Number("0.12345678901234567890")},
		"seventeen digits a float64 keeps":    {`0.30000000000000004`, 0.30000000000000004},
		"too large for a float64":             {`1e400`, json.Number("1e400")},
		"so small that a float64 is zero":     {`1e-400`, json.Number("1e-400")},
		"zero with an exponent is zero":       {`0e5`, 0.0},
		"every escape":                        {`"\"\\\/\b\f\n\r\t\u0041"`, "\"\\/\b\f\n\r\tA"},
		"a surrogate pair":                    {`"a\ud83d\ude00b"`, "a😀b"},
		"text beyond ASCII":                   {`"grüße 😀"`, "grüße 😀"},
		"a zero byte, escaped":                {`"\u0000"`, "\x00"},
		"DEL needs no escape":                 {"\"\x7f\"", "\x7f"},
		"the empty key":                       {`{"":1}`, map[string]any{"": int64(1)}},
		"the same key in different objects":   {`{"a":{"a":1}}`, map[string]any{"a": map[string]any{"a": int64(1)}}},
		"an object larger than a small map's": {`{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9,"j":10}`, map[string]any{"a": int64(1), "b": int64(2), "c": int64(3), "d": int64(4), "e": int64(5), "f": int64(6), "g": int64(7), "h": int64(8), "i": int64(9), "j": int64(10)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := document.Decode([]byte(row.text), depth)
			require.NoError(t, err)
			require.Equal(t, row.want, got)
			if f, isFloat := row.want.(float64); isFloat {
				require.Equal(t, math.Signbit(f), math.Signbit(got.(float64)))
			}
		})
	}
}

func TestDecodeErrors(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		text   string
		offset int
		line   int
		says   string
	}{
		"no text":                       {"", 0, 1, "the text ends where a value is expected"},
		"white space only":              {" \n", 2, 2, "the text ends where a value is expected"},
		"text behind the value":         {"{}\n x", 4, 2, `'x' where the end of the text is expected`},
		"a byte order mark":             {"\ufeff{}", 0, 1, "where a value is expected"},
		"a key twice":                   {"{\"a\":1,\n\"b\":2,\"a\":3}", 14, 2, `the key "a" comes twice`},
		"a key twice, once escaped":     {`{"a":1,"\u0061":3}`, 7, 1, `the key "a" comes twice`},
		"invalid UTF-8":                 {"[\"ab\xffc\"]", 4, 1, "the byte 0xff is not valid UTF-8"},
		"invalid UTF-8 in a key":        {"{\"\xc3\":1}", 2, 1, "the byte 0xc3 is not valid UTF-8"},
		"a surrogate as UTF-8":          {"\"\xed\xa0\x80\"", 1, 1, "not valid UTF-8"},
		"a high surrogate alone":        {`"x\ud800"`, 2, 1, `\ud800 is half of a surrogate pair`},
		"a low surrogate alone":         {`"\udc00"`, 1, 1, `\udc00 is half of a surrogate pair`},
		"two high surrogates":           {`"\ud800\ud800"`, 1, 1, `half of a surrogate pair`},
		"a control character":           {"\"a\nb\"", 2, 1, "control character 0x0a"},
		"an unknown escape":             {`"\x41"`, 1, 1, `\x is no escape of JSON`},
		"an escape cut short":           {`"\u00`, 1, 1, "four hexadecimal digits"},
		"an escape that isn't hex":      {`"\u00g0"`, 1, 1, "four hexadecimal digits"},
		"the end in an escape":          {`"\`, 2, 1, "ends in an escape"},
		"the end in a string":           {`["abc`, 5, 1, "the string that starts at offset 1"},
		"the end in an object":          {`{"a":1`, 6, 1, `the text ends where a comma or '}' is expected`},
		"the end in a list":             {`[1`, 2, 1, `the text ends where a comma or ']' is expected`},
		"a comma behind the last":       {`[1,]`, 3, 1, `']' where a value is expected`},
		"a comma behind the last field": {`{"a":1,}`, 7, 1, `'}' where a key in quotes is expected`},
		"a key without quotes":          {`{a:1}`, 1, 1, `'a' where a key in quotes`},
		"a key without a colon":         {`{"a" 1}`, 5, 1, "where a colon after the key is expected"},
		"the wrong bracket":             {`[1}`, 2, 1, `'}' where a comma or ']'`},
		"single quotes":                 {`'a'`, 0, 1, "where a value is expected"},
		"a comment":                     {"// a\n1", 0, 1, "where a value is expected"},
		"a leading zero":                {"01", 1, 1, `'1' where a number as JSON writes it is expected`},
		"a plus":                        {"+1", 0, 1, "where a value is expected"},
		"a lone minus":                  {"-", 1, 1, "the text ends where a number"},
		"a point without digits":        {"[1.]", 3, 1, "where a number as JSON writes it"},
		"an exponent without digits":    {"1e", 2, 1, "the text ends where a number"},
		"no digit before the point":     {".5", 0, 1, "where a value is expected"},
		"NaN":                           {"NaN", 0, 1, "where a value is expected"},
		"a word cut short":              {"tru", 0, 1, "where a value is expected"},
		"a word too long":               {"nulls", 4, 1, "where the end of the text is expected"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			value, err := document.Decode([]byte(row.text), depth)
			require.Nil(t, value)
			var syntax *document.SyntaxError
			require.ErrorAs(t, err, &syntax)
			require.Contains(t, err.Error(), row.says)
			require.Equal(t, row.offset, syntax.Offset)
			require.Equal(t, row.line, syntax.Line)
			require.NotErrorIs(t, err, document.ErrDepth)
		})
	}
}

func nest(levels int) any {
	var value any = "x"
	for i := range levels {
		if i%2 == 0 {
			value = []any{value}
		} else {
			value = map[string]any{"a": value}
		}
	}
	return value
}

func TestDepth(t *testing.T) {
	t.Parallel()
	for _, levels := range []int{1, depth} {
		value := nest(levels)
		text, err := document.Append(nil, value)
		require.NoError(t, err)
		decoded, err := document.Decode(text, levels)
		require.NoError(t, err)
		require.True(t, document.Equal(value, decoded))
		_, err = document.Decode(text, levels-1)
		require.ErrorIs(t, err, document.ErrDepth)
		require.ErrorContains(t, err, "more than "+strconv.Itoa(levels-1)+" levels")
		clone, err := document.Clone(value, levels)
		require.NoError(t, err)
		require.Equal(t, value, clone)
		require.NoError(t, document.Check(value, levels))
		_, err = document.Clone(value, levels-1)
		require.ErrorIs(t, err, document.ErrDepth)
		require.ErrorIs(t, document.Check(value, levels-1), document.ErrDepth)
	}
	t.Run("no depth at all allows scalars only", func(t *testing.T) {
		t.Parallel()
		for _, none := range []int{0, -1} {
			_, err := document.Decode([]byte(`[]`), none)
			require.ErrorIs(t, err, document.ErrDepth)
			_, err = document.Clone([]any{}, none)
			require.ErrorIs(t, err, document.ErrDepth)
			value, err := document.Decode([]byte(`"a"`), none)
			require.NoError(t, err)
			require.Equal(t, "a", value)
		}
	})
	t.Run("more depth than a stack can have is bounded", func(t *testing.T) {
		t.Parallel()
		_, err := document.Decode(bytes.Repeat([]byte("["), 1_000_000), math.MaxInt)
		require.ErrorIs(t, err, document.ErrDepth)
	})
}

func TestCycle(t *testing.T) {
	t.Parallel()
	object := map[string]any{}
	object["self"], object["list"] = object, []any{object, object}
	list := []any{nil}
	list[0] = list
	for name, value := range map[string]any{"object": object, "list": list} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, levels := range []int{depth, math.MaxInt} {
				_, err := document.Clone(value, levels)
				require.ErrorIs(t, err, document.ErrDepth)
				var inner *document.ValueError
				require.ErrorAs(t, err, &inner)
				require.Less(t, len(err.Error()), 200, "a place and not a path without end")
			}
			_, err := document.Append(nil, value)
			require.ErrorIs(t, err, document.ErrDepth)
			require.ErrorIs(t, document.Check(value, depth), document.ErrDepth)
			require.False(t, document.Equal(value, value))
		})
	}
}

func TestForeignValues(t *testing.T) {
	t.Parallel()
	type named string
	for name, row := range map[string]struct {
		value any
		says  string
	}{
		"NaN":                       {math.NaN(), "NaN is no JSON number"},
		"infinity":                  {math.Inf(-1), "-Inf is no JSON number"},
		"NaN of 32 bits":            {float32(math.NaN()), "NaN is no JSON number"},
		"a struct":                  {struct{ A int }{1}, "a struct { A int } is no JSON value"},
		"a pointer":                 {new(int), "a *int is no JSON value"},
		"a map of another type":     {map[string]string{}, "a map[string]string is no JSON value"},
		"a list of another type":    {[]string{}, "a []string is no JSON value"},
		"a named string":            {named("a"), "is no JSON value"},
		"bytes":                     {[]byte("a"), "a []uint8 is no JSON value"},
		"a channel":                 {make(chan int), "a chan int is no JSON value"},
		"a json.Number that's none": {json.Number("1x"), `json.Number "1x" is no JSON number`},
		"an empty json.Number":      {json.Number(""), `json.Number "" is no JSON number`},
		"a json.Number of Go":       {json.Number("0x1p-2"), "is no JSON number"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			value := map[string]any{"a/b": []any{1, map[string]any{"~": row.value}}}
			_, cloneErr := document.Clone(value, depth)
			_, appendErr := document.Append(nil, value)
			for _, err := range []error{cloneErr, appendErr, document.Check(value, depth)} {
				var inner *document.ValueError
				require.ErrorAs(t, err, &inner)
				require.Equal(t, "/a~1b/1/~0", inner.Path)
				require.Contains(t, err.Error(), row.says)
			}
			require.False(t, document.Equal(row.value, row.value))
			require.False(t, document.Equal(1, row.value))
			_, err := document.Clone(row.value, depth)
			require.ErrorContains(t, err, row.says)
		})
	}
	t.Run("of several the first by name", func(t *testing.T) {
		t.Parallel()
		value := map[string]any{}
		for _, key := range strings.Split("qwertzuiopasdfghjkl", "") {
			value[key] = math.NaN()
		}
		_, err := document.Clone(value, depth)
		require.EqualError(t, err, "/a: NaN is no JSON number")
		_, err = document.Append(nil, value)
		require.EqualError(t, err, "/a: NaN is no JSON number")
	})
	t.Run("strings that aren't UTF-8 can't be written", func(t *testing.T) {
		t.Parallel()
		_, err := document.Append(nil, []any{"a\xff"})
		require.EqualError(t, err, "/0: the string is not valid UTF-8")
		_, err = document.Append(nil, map[string]any{"a\xff": 1})
		require.ErrorContains(t, err, "not valid UTF-8")
	})
}

func TestClone(t *testing.T) {
	t.Parallel()
	t.Run("Go's other numbers become one of two", func(t *testing.T) {
		t.Parallel()
		got, err := document.Clone([]any{1, int8(2), int16(3), int32(4), uint(5), uint8(6), uint16(7), uint32(8), uint64(9), uint64(math.MaxUint64), float32(0.1), json.Number("1.50")}, depth)
		require.NoError(t, err)
		require.Equal(t, []any{int64(1), int64(2), int64(3), int64(4), int64(5), int64(6), int64(7), int64(8), int64(9), json.Number("18446744073709551615"), 0.1, json.Number("1.50")}, got)
	})
	t.Run("nil maps and lists become empty ones", func(t *testing.T) {
		t.Parallel()
		got, err := document.Clone([]any{map[string]any(nil), []any(nil), nil}, depth)
		require.NoError(t, err)
		require.Equal(t, []any{map[string]any{}, []any{}, nil}, got)
	})
	t.Run("nothing is shared and nothing changed", func(t *testing.T) {
		t.Parallel()
		source, want := deployment(), deployment()
		clone, err := document.Clone(source, depth)
		require.NoError(t, err)
		require.Equal(t, want, clone)
		spoil(clone)
		require.Equal(t, want, source)
	})
}

// spoil changes every container of a value.
func spoil(value any) {
	switch value := value.(type) {
	case map[string]any:
		for key, field := range value {
			spoil(field)
			value[key] = "spoiled"
		}
		value["spoiled"] = true
	case []any:
		for i, element := range value {
			spoil(element)
			value[i] = "spoiled"
		}
	}
}

func TestEqual(t *testing.T) {
	t.Parallel()
	object := func(value any) map[string]any { return map[string]any{"a": value} }
	for name, row := range map[string]struct {
		a, b any
		want bool
	}{
		"a float that is whole":                       {int64(80), 80.0, true},
		"a json.Number of an integer":                 {int64(80), json.Number("80"), true},
		"a json.Number with an exponent":              {80.0, json.Number("8e1"), true},
		"a json.Number with a fraction of zero":       {json.Number("80.0"), json.Number("80"), true},
		"Go's other integers":                         {uint8(80), int32(80), true},
		"float32 as it is written":                    {float32(0.1), 0.1, true},
		"a number and its text":                       {int64(80), "80", false},
		"a number and a truth":                        {int64(1), true, false},
		"null and nothing":                            {object(nil), map[string]any{}, false},
		"null and false":                              {nil, false, false},
		"zeros of either sign":                        {0.0, math.Copysign(0, -1), true},
		"zeros of any form":                           {json.Number("0e99"), int64(0), true},
		"numbers that differ in their sign":           {json.Number("-80"), int64(80), false},
		"integers next to each other, one as a float": {int64(9007199254740993), 9007199254740992.0, false},
		"the largest int64 and the float above":       {int64(math.MaxInt64), 9223372036854775808.0, false},
		"numbers that differ in the last digit":       {json.Number("12345678901234567890123"), json.Number("12345678901234567890124"), false},
		"exponents beyond any integer":                {json.Number("1e100000000000000000000"), json.Number("10e99999999999999999999"), true},
		"huge exponents that differ":                  {json.Number("1e100000000000000000000"), json.Number("1e100000000000000000001"), false},
		"objects in any order":                        {map[string]any{"a": 1, "b": 2}, map[string]any{"b": 2, "a": 1}, true},
		"objects of other fields":                     {map[string]any{"a": nil}, map[string]any{"b": nil}, false},
		"lists in another order":                      {[]any{1, 2}, []any{2, 1}, false},
		"lists of other lengths":                      {[]any{1}, []any{1, 1}, false},
		"a list and an object":                        {[]any{}, map[string]any{}, false},
		"a nil map and an empty one":                  {map[string]any(nil), map[string]any{}, true},
		"a nil list and an empty one":                 {[]any(nil), []any{}, true},
		"nil and a nil map":                           {nil, map[string]any(nil), false},
		"deep inside":                                 {object([]any{object(1)}), object([]any{object(1.0)}), true},
		"deep inside, another":                        {object([]any{object(1)}), object([]any{object(2)}), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, row.want, document.Equal(row.a, row.b))
			assert.Equal(t, row.want, document.Equal(row.b, row.a))
		})
	}
}

func TestAppend(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		value any
		want  string
	}{
		"fields in ascending order":           {map[string]any{"b": 1, "a": 2, "aa": 3, "": 4, "B": 5}, `{"":4,"B":5,"a":2,"aa":3,"b":1}`},
		"many fields in ascending order":      {map[string]any{"n": 0, "m": 0, "l": 0, "k": 0, "j": 0, "i": 0, "h": 0, "g": 0, "f": 0, "e": 0, "d": 0, "c": 0, "b": 0, "a": 0}, `{"a":0,"b":0,"c":0,"d":0,"e":0,"f":0,"g":0,"h":0,"i":0,"j":0,"k":0,"l":0,"m":0,"n":0}`},
		"only what must be is escaped":        {"<a> & \"b\" \\ / \u2028 ü", "\"<a> & \\\"b\\\" \\\\ / \u2028 ü\""},
		"control characters":                  {"\n\r\t\b\x00\x1f\x7f", "\"\\n\\r\\t\\u0008\\u0000\\u001f\x7f\""},
		"a whole float":                       {80.0, "80"},
		"a large whole float with its digits": {float64(1 << 62), "4611686018427387904"},
		"minus zero":                          {math.Copysign(0, -1), "-0"},
		"a fraction":                          {0.1, "0.1"},
		"large and small floats":              {[]any{1e21, 1e20, 1e-7, -1e-6}, "[1e+21,100000000000000000000,1e-07,-0.000001]"},
		"float32":                             {float32(0.1), "0.1"},
		"a json.Number as it is":              {json.Number("1.50e3"), "1.50e3"},
		"uint64":                              {uint64(math.MaxUint64), "18446744073709551615"},
		"nil maps and lists":                  {[]any{map[string]any(nil), []any(nil), nil}, "[{},[],null]"},
		"truths":                              {[]any{true, false}, "[true,false]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := document.Append([]byte("before "), row.value)
			require.NoError(t, err)
			require.Equal(t, "before "+row.want, string(got))
		})
	}
}

func TestSize(t *testing.T) {
	t.Parallel()
	value := deployment()
	text, err := document.Append(nil, value)
	require.NoError(t, err)
	require.InEpsilon(t, len(text), document.Size(value), 0.1)
}

func TestErrorsAreTheirCauses(t *testing.T) {
	t.Parallel()
	cause := errors.New("cause")
	require.ErrorIs(t, &document.SyntaxError{Err: cause}, cause)
	require.ErrorIs(t, &document.ValueError{Err: cause}, cause)
}
