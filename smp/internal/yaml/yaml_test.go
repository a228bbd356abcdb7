package yaml_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	kubernetesyaml "sigs.k8s.io/yaml"

	"github.com/operkit/operkit/smp/internal/document"
	"github.com/operkit/operkit/smp/internal/yaml"
)

const depth = 100

func TestDecode(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		text string
		want any
	}{
		"nothing":                           {"", nil},
		"a comment only":                    {"# nothing\n", nil},
		"a marker only":                     {"---\n", nil},
		"JSON":                              {`{"a": [1, "b", null]}`, map[string]any{"a": []any{int64(1), "b", nil}}},
		"a marker in front":                 {"# first\n---\na: 1\n", map[string]any{"a": int64(1)}},
		"a marker behind":                   {"a: 1\n---\n# nothing\n", map[string]any{"a": int64(1)}},
		"the end marked":                    {"a: 1\n...\n", map[string]any{"a": int64(1)}},
		"a directive":                       {"%YAML 1.1\n---\na: 1\n", map[string]any{"a": int64(1)}},
		"a value beside the marker":         {"--- 1\n", int64(1)},
		"dashes in a text":                  {"a: |\n  ---\n  b\n", map[string]any{"a": "---\nb\n"}},
		"more than three dashes":            {"a\n---b\n", "a ---b"},
		"the words of YAML 1.1":             {"[yes, off, ~, Null, n]", []any{true, false, nil, nil, false}},
		"quoted they are texts":             {`["yes", '~', !!str off]`, []any{"yes", "~", "off"}},
		"exact integers":                    {"[9007199254740993, -10000000000000001, -9223372036854775808, 18446744073709551615]", []any{int64(9007199254740993), int64(-10000000000000001), int64(math.MinInt64), json.Number("18446744073709551615")}},
		"other forms of integers":           {"[0x1F, 0o17, 017, 0b11, 1_000, +5]", []any{int64(31), int64(15), int64(15), int64(3), int64(1000), int64(5)}},
		"floats":                            {"[0.1, 0.30000000000000004, .5, 1e3, 1.10000000000000000]", []any{0.1, 0.30000000000000004, 0.5, int64(1000), 1.1}},
		"many digits in texts":              {"a: \"12345678901234567890123\" # 0.12345678901234567890\nb: v0.12345678901234567890\nc: 3\n", map[string]any{"a": "12345678901234567890123", "b": "v0.12345678901234567890", "c": int64(3)}},
		"keys that are no texts":            {"{1: a, true: b, 0.5: c}", map[string]any{"1": "a", "true": "b", "0.5": "c"}},
		"anchors":                           {"a: &x {b: 1}\nc: *x\nd:\n  <<: *x\n  e: 2\n", map[string]any{"a": map[string]any{"b": int64(1)}, "c": map[string]any{"b": int64(1)}, "d": map[string]any{"b": int64(1), "e": int64(2)}}},
		"a date is a text":                  {"a: 2020-01-02\n", map[string]any{"a": "2020-01-02"}},
		"text folded and in lines":          {"a: >\n  b\n  c\nd: |-\n  e\n  f\n", map[string]any{"a": "b c\n", "d": "e\nf"}},
		"the same key in different objects": {"a: {b: 1}\nc: {b: 2}\n", map[string]any{"a": map[string]any{"b": int64(1)}, "c": map[string]any{"b": int64(2)}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := yaml.Decode([]byte(row.text), depth)
			require.NoError(t, err)
			require.Equal(t, row.want, got)
		})
	}
}

func TestDecodeErrors(t *testing.T) {
	t.Parallel()
	bomb := "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
	for i := 1; i < 9; i++ {
		last, next := string(rune('0'+i-1)), string(rune('0'+i))
		bomb += "a" + next + ": &a" + next + " [" + strings.Repeat("*a"+last+",", 9) + "*a" + last + "]\n"
	}
	for name, row := range map[string]struct{ text, says string }{
		"a key twice":                          {"a: 1\nb: 2\na: 3\n", `line 3: key "a" already set in map`},
		"a second document":                    {"a: 1\n---\nb: 2\n", "line 3: a second document begins"},
		"a second document beside the marker":  {"a: 1\n--- 2\n", "line 2: a second document begins"},
		"a second document after the end":      {"a: 1\n...\n---\nb: 2\n", "line 4: a second document begins"},
		"a second document after a text":       {"a: |\n  b\n---\n{}\n", "line 4: a second document begins"},
		"a syntax error":                       {"a: 1\n  b: 2\n", "line 2: mapping values are not allowed in this context"},
		"tabs":                                 {"a:\n\tb: 1\n", "line 2: found character that cannot start any token"},
		"NaN":                                  {"a: .nan\n", "NaN"},
		"infinity":                             {"a: -.inf\n", "-Inf"},
		"invalid UTF-8":                        {"a: \xff\n", "invalid leading UTF-8 octet"},
		"an unknown anchor":                    {"a: *b\n", "unknown anchor 'b' referenced"},
		"an anchor in itself":                  {"a: &a [*a]\n", "anchor 'a' value contains itself"},
		"anchors of anchors":                   {bomb, "document contains excessive aliasing"},
		"an integer of too many digits":        {"a: 12345678901234567890123\n", "the number 12345678901234567890123 has more digits than YAML numbers keep"},
		"a negative one":                       {"[-9223372036854775809]", "the number -9223372036854775809 has more digits"},
		"a fraction of too many digits":        {"- 0.12345678901234567890\n", "0.12345678901234567890 has more digits"},
		"one without a digit before the point": {"- .12345678901234567890\n", ".12345678901234567890 has more digits"},
		"one with an exponent":                 {"- 1.2345678901234567890e5\n", "1.2345678901234567890e5 has more digits"},
		"one that is rounded to an integer":    {"- 1234567.00000000000000000001\n", "has more digits"},
		"a map as a key":                       {"{a: 1}: 2\n", "invalid map key"},
		"null as a key":                        {"~: 2\n", "unsupported map key"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := yaml.Decode([]byte(row.text), depth)
			require.ErrorContains(t, err, row.says)
			require.NotErrorIs(t, err, document.ErrDepth)
			require.NotContains(t, err.Error(), "\n")
		})
	}
	t.Run("too much depth", func(t *testing.T) {
		t.Parallel()
		for _, levels := range []int{depth + 1, 5_000, 50_000} {
			_, err := yaml.Decode([]byte(strings.Repeat("[", levels)+strings.Repeat("]", levels)), depth)
			require.ErrorIs(t, err, document.ErrDepth)
		}
	})
}

func TestAppend(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		value any
		want  string
	}{
		"scalars":               {[]any{nil, true, int64(-1), 0.5, "text"}, "- null\n- true\n- -1\n- 0.5\n- text\n"},
		"a scalar document":     {"text", "text\n"},
		"empty containers":      {map[string]any{"a": map[string]any{}, "b": []any{}}, "a: {}\nb: []\n"},
		"an empty document":     {map[string]any{}, "{}\n"},
		"maps in maps":          {map[string]any{"b": map[string]any{"c": map[string]any{"d": 1}}, "a": 2}, "a: 2\nb:\n  c:\n    d: 1\n"},
		"maps in lists in maps": {map[string]any{"a": []any{map[string]any{"b": 1, "c": []any{2}}, map[string]any{"d": map[string]any{"e": 3}}}}, "a:\n- b: 1\n  c:\n  - 2\n- d:\n    e: 3\n"},
		"lists in lists":        {[]any{[]any{1, []any{2}}, []any{}}, "- - 1\n  - - 2\n- []\n"},
		"texts that look like others": {[]any{"yes", "N", "null", "~", "1", "0x1F", "1e3", ".5", "-", "", " a", "a ", "a: b", "a #b", "a:", "2020-01-02", "1:30", "=", "<<", "!a", "&a", "*a", "[a", "{a", "'a", "\"a", "%a", "@a", "`a", "a\tb"},
			"- \"yes\"\n- \"N\"\n- \"null\"\n- \"~\"\n- \"1\"\n- \"0x1F\"\n- \"1e3\"\n- \".5\"\n- \"-\"\n- \"\"\n- \" a\"\n- \"a \"\n- \"a: b\"\n- \"a #b\"\n- \"a:\"\n- \"2020-01-02\"\n- \"1:30\"\n- \"=\"\n- \"<<\"\n- \"!a\"\n- \"&a\"\n- \"*a\"\n- \"[a\"\n- \"{a\"\n- \"'a\"\n- \"\\\"a\"\n- \"%a\"\n- \"@a\"\n- \"`a\"\n- \"a\\tb\"\n"},
		"texts that don't":            {[]any{"512Mi", "registry.example.com/a/b:1.2", "/var/lib", "app.kubernetes.io/name", "value of a", "a-b_c", "http://x:80/y?z=1&v#w", "100m"}, "- 512Mi\n- registry.example.com/a/b:1.2\n- /var/lib\n- app.kubernetes.io/name\n- value of a\n- a-b_c\n- http://x:80/y?z=1&v#w\n- 100m\n"},
		"text of several lines":       {map[string]any{"a": "b\n  c\n\nd\n", "e": []any{"f\ng"}}, "a: |\n  b\n    c\n\n  d\ne:\n- |-\n  f\n  g\n"},
		"a document of several lines": {"a\nb\n", "|\n  a\n  b\n"},
		"lines that can't be one":     {[]any{"\na", " a\nb", "a\n\n", "a\r\nb", "\n", "a\u2028\nb"}, "- \"\\na\"\n- \" a\\nb\"\n- \"a\\n\\n\"\n- \"a\\u000d\\nb\"\n- \"\\n\"\n- \"a\\u2028\\nb\"\n"},
		"characters":                  {[]any{"ü 😀", "\x00\x7f\u0085\ufeff\uffff", "\u00a0"}, "- \"ü 😀\"\n- \"\\u0000\\u007f\\u0085\\ufeff\\uffff\"\n- \"\u00a0\"\n"},
		"keys that need quotes":       {map[string]any{"yes": 1, "": 2, "a b": 3, "1": 4}, "\"\": 2\n\"1\": 4\na b: 3\n\"yes\": 1\n"},
		"numbers as they are":         {[]any{json.Number("12345678901234567890123"), json.Number("1.50")}, "- 12345678901234567890123\n- 1.50\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := yaml.Append([]byte("# before\n"), row.value)
			require.NoError(t, err)
			require.Equal(t, "# before\n"+row.want, string(got))
		})
	}
	t.Run("a very long key", func(t *testing.T) {
		t.Parallel()
		requireBack(t, map[string]any{"a": map[string]any{strings.Repeat("k", 5000): []any{int64(1)}, strings.Repeat("l", 5000): "v", "m": nil}})
	})
	t.Run("what isn't JSON", func(t *testing.T) {
		t.Parallel()
		for _, value := range []any{math.NaN(), "\xff", struct{}{}} {
			_, err := yaml.Append(nil, map[string]any{"a": value})
			var inner *document.ValueError
			require.ErrorAs(t, err, &inner)
			require.Equal(t, "/a", inner.Path)
		}
	})
}

// requireBack checks that a value is read back as it was, by us and by others.
func requireBack(t *testing.T, value any) {
	t.Helper()
	text, err := yaml.Append(nil, value)
	require.NoError(t, err)
	got, err := yaml.Decode(text, 1000)
	require.NoError(t, err, "%s", text)
	require.True(t, document.Equal(value, got), "%s", text)
	var theirs any
	require.NoError(t, kubernetesyaml.UnmarshalStrict(text, &theirs), "%s", text)
	written, err := document.Append(nil, value)
	require.NoError(t, err)
	var want any
	require.NoError(t, json.Unmarshal(written, &want))
	require.Equal(t, want, theirs, "%s", text)
}

// FuzzAppend reads back what was written of any JSON value.
func FuzzAppend(f *testing.F) {
	for _, seed := range []string{
		`{"a":[{"b":"c\nd","e":[[],{},[1]]}],"yes":"no","":"~"}`, `["1:30","0x1","- a","a\n","\n","a\n\n b","# c","'","\"","\\","---\na","...",".","!","a: b"," "]`,
		`{"a":{"b":[{"c":[{"d":"e\nf\n"}]}]}}`, `"---"`, `"a\n---\nb"`, `[1e21,-0,0.1,18446744073709551615]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		value, err := document.Decode(text, 50)
		if err != nil || !writable(value) {
			return
		}
		requireBack(t, value)
	})
}

// writable reports whether YAML readers keep all of a value's numbers.
func writable(value any) bool {
	switch value := value.(type) {
	case map[string]any:
		for _, field := range value {
			if !writable(field) {
				return false
			}
		}
	case []any:
		for _, element := range value {
			if !writable(element) {
				return false
			}
		}
	case json.Number:
		return false
	}
	return true
}

// FuzzDecode holds Decode to what sigs.k8s.io/yaml makes of the same text.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		"a: 1\n---\nb: 2\n", "a: &x [1, yes]\nb: *x\n", "a: 12345678901234567890123\n", "a: |\n  b\n", "? a\n: b\n", "{a: 1, a: 2}", "[0x1F, 1_0, .5, 1e400, .inf]", "%YAML 1.1\n---\n- !!binary AAEC\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		given := string(text)
		value, err := yaml.Decode(text, 100)
		require.Equal(t, given, string(text), "the text was written to")
		if err != nil {
			return
		}
		var theirs any
		require.NoError(t, kubernetesyaml.UnmarshalStrict(text, &theirs))
		written, err := document.Append(nil, value)
		require.NoError(t, err)
		var ours any
		require.NoError(t, json.Unmarshal(written, &ours))
		require.Equal(t, theirs, ours)
	})
}
