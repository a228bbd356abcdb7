package document_test

import (
	"testing"

	"github.com/operkit/operkit/reconcile/internal/document"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSplit(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		text        string
		lines       []int
		first       []int
		firstValues []any
	}{
		"one":                                {"a: 1\n", []int{1}, []int{1}, []any{map[string]any{"a": int64(1)}}},
		"two":                                {"a: 1\n---\nb: 2.5\n", []int{1, 2}, []int{1, 3}, []any{map[string]any{"a": int64(1)}, map[string]any{"b": 2.5}}},
		"a mark before the first":            {"---\na: 1\n", []int{1}, []int{2}, []any{map[string]any{"a": int64(1)}}},
		"content behind the mark":            {"--- {a: 1}\n", []int{1}, []int{1}, []any{map[string]any{"a": int64(1)}}},
		"an end, and nothing behind it":      {"a: 1\n...\n# done\n", []int{1}, []int{1}, []any{map[string]any{"a": int64(1)}}},
		"empty ones, and comments, are none": {"---\n\n# nothing\n---\n\n# this\n\na: 1\n---\n", []int{4}, []int{8}, []any{map[string]any{"a": int64(1)}}},
		"dashes that are text":               {"a: |\n  x\n  ---\n  y\n", []int{1}, []int{1}, []any{map[string]any{"a": "x\n---\ny\n"}}},
		"a word that begins with dashes":     {"---a: 1\n", []int{1}, []int{1}, []any{map[string]any{"---a": int64(1)}}},
		"lines as Windows ends them":         {"a: 1\r\n---\r\nb: 2\r\n", []int{1, 2}, []int{1, 3}, []any{map[string]any{"a": int64(1)}, map[string]any{"b": int64(2)}}},
		"nothing":                            {"", nil, nil, nil},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			var lines, first []int
			var values []any
			for _, d := range document.Split(row.text) {
				value, problems := d.Decode()
				require.Empty(t, problems)
				lines, first, values = append(lines, d.Line), append(first, d.FirstLine()), append(values, value)
			}
			assert.Equal(t, row.lines, lines)
			assert.Equal(t, row.first, first)
			assert.Equal(t, row.firstValues, values)
		})
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		text   string
		line   int
		quotes bool
	}{
		"a key twice":              {"a: 1\nb: 2\na: 3\n", 3, false},
		"a tab":                    {"a:\n\tb: 1\n", 2, false},
		"what may quote a value":   {"a: *secret\n", 0, true},
		"a list that isn't closed": {"a: [1, 2\n", 1, false},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			_, problems := document.Split(row.text)[0].Decode()
			require.Len(t, problems, 1)
			assert.Equal(t, row.line, problems[0].Line, problems[0].Text)
			assert.Equal(t, row.quotes, problems[0].Quotes, problems[0].Text)
		})
	}
}

func TestObjects(t *testing.T) {
	t.Parallel()
	one := map[string]any{"apiVersion": "v1", "kind": "A"}
	found, err := document.Objects(map[string]any{"apiVersion": "v1", "kind": "AList", "items": []any{map[string]any{"n": int64(1)}, one}})
	require.NoError(t, err)
	assert.Equal(t, []map[string]any{{"apiVersion": "v1", "kind": "A", "n": int64(1)}, one}, found, "items of a list of one kind needn't repeat it")
	found, err = document.Objects(map[string]any{"kind": "List", "items": []any{one, map[string]any{"kind": "List", "items": []any{one}}}})
	require.NoError(t, err)
	assert.Len(t, found, 2, "lists in lists")
	for what, value := range map[string]any{"text": "x", "a list": []any{}, "nothing": nil, "a number or a boolean": true} {
		_, err := document.Objects(value)
		assert.EqualError(t, err, "is "+what+", not an object: apiVersion, kind and metadata are needed")
	}
	found, err = document.Objects(map[string]any{"kind": "List", "items": []any{"x", one}})
	assert.EqualError(t, err, "List: items[0]: is text, not an object: apiVersion, kind and metadata are needed")
	assert.Len(t, found, 1, "the others are read")
}

func FuzzSplit(f *testing.F) {
	f.Add("a: 1\n---\nb: [x]\n")
	f.Add("--- {}\n...\n# x\n")
	f.Add("a: |\n  ---\n")
	f.Fuzz(func(t *testing.T, text string) {
		last := 0
		for _, d := range document.Split(text) {
			if d.Line <= last && last != 0 || d.FirstLine() < d.Line {
				t.Fatalf("line %d after %d, first %d", d.Line, last, d.FirstLine())
			}
			last = d.Line
			value, problems := d.Decode()
			if len(problems) == 0 && value != nil {
				_, _ = document.Objects(value)
			}
		}
	})
}
