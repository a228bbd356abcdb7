package smp

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/smp/internal/document"
	"github.com/operkit/operkit/smp/internal/yaml"
)

// any is any JSON value, with few names and values, so that two of them have much in common.
func (s *source) any(depth int) any {
	kind := s.next(4)
	if depth <= 0 || kind == 0 {
		return s.scalar()
	}
	if kind == 1 {
		list := make([]any, s.next(6))
		for i := range list {
			list[i] = s.any(depth - 1)
		}
		return list
	}
	object := map[string]any{}
	for range s.next(5) {
		object[[]string{"a", "b", "c/d", "~", "0", "", "kind", "metadata", "name"}[s.next(9)]] = s.any(depth - 1)
	}
	return object
}

// operations are a JSON patch, most of whose paths lead into doc.
func (s *source) operations(doc any) []any {
	list := make([]any, s.next(8))
	for i := range list {
		operation := map[string]any{
			"op":   []string{"add", "remove", "replace", "move", "copy", "test", "merge"}[s.next(7)],
			"path": s.pointer(doc), "from": s.pointer(doc), "value": s.any(2),
		}
		if s.next(16) == 0 {
			delete(operation, []string{"op", "path", "from", "value"}[s.next(4)])
		}
		list[i] = operation
	}
	return list
}

func (s *source) pointer(doc any) string {
	switch container := doc.(type) {
	case map[string]any:
		for _, key := range []string{"a", "b", "c/d", "~", "0", ""} {
			if child, found := container[key]; found && s.next(3) > 0 {
				return "/" + document.EscapeToken(key) + s.pointer(child)
			}
		}
	case []any:
		if len(container) > 0 && s.next(3) > 0 {
			i := s.next(len(container))
			return fmt.Sprintf("/%d%s", i, s.pointer(container[i]))
		}
	}
	return []string{"", "/a", "/b", "/-", "/0", "/1", "/c~1d", "/01", "/~", "a"}[s.next(10)]
}

func seeds(f *testing.F) {
	f.Helper()
	for i := range 64 {
		seed := make([]byte, 200)
		for j := range seed {
			seed[j] = byte(j*(7*i+3) + i*i + j*j*i/5)
		}
		f.Add(seed)
	}
}

// applied checks what holds of every way to apply a patch to a document: nothing is changed, an error
// is one of ours and comes without a result, detached results share nothing, shared ones are equal to
// them, and the texts give the same.
func applied(t *testing.T, doc, patch any, on func(doc, patch any, opts ...Option) (any, error),
	onText func(doc, patch []byte, opts ...Option) ([]byte, error), opts ...Option,
) (any, error) {
	t.Helper()
	docBefore, patchBefore := own(t, doc), own(t, patch)
	got, err := on(doc, patch, opts...)
	shared, sharedErr := on(doc, patch, append([]Option{Shared()}, opts...)...)
	require.Equal(t, docBefore, doc, "the document was changed")
	require.Equal(t, patchBefore, patch, "the patch was changed")
	docText, patchText := textOf(t, doc), textOf(t, patch)
	text, textErr := onText(docText, patchText, opts...)
	if err != nil {
		require.Nil(t, got)
		require.Nil(t, shared)
		require.Nil(t, text)
		require.NotEmpty(t, KindOf(err))
		require.EqualError(t, sharedErr, err.Error())
		require.EqualError(t, textErr, err.Error())
		return nil, err
	}
	require.NoError(t, sharedErr)
	require.NoError(t, textErr)
	require.True(t, document.Equal(got, shared), "%v\n%v", got, shared)
	require.Equal(t, string(textOf(t, got)), string(text))
	result := own(t, got)
	scribble(got)
	require.Equal(t, docBefore, doc, "the document is part of the result")
	require.Equal(t, patchBefore, patch, "the patch is part of the result")
	return result, nil
}

func own(t *testing.T, value any) any {
	t.Helper()
	clone, err := document.Clone(value, 1000)
	require.NoError(t, err)
	return clone
}

func textOf(t *testing.T, value any) []byte {
	t.Helper()
	text, err := document.Append(nil, value)
	require.NoError(t, err)
	return text
}

func FuzzJSON(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		s := &source{data: data}
		doc := s.any(4)
		ops := s.operations(doc)
		got, err := applied(t, doc, ops, JSON, JSONText.JSON, AllowIdentityChange(), Within(0, 100_000))
		want, wantErr := any(nil), error(nil)
		if want, wantErr = naivePatch(own(t, doc), ops); wantErr != nil {
			require.Error(t, err, "%v: %v", wantErr, ops)
			return
		}
		require.NoError(t, err)
		require.True(t, document.Equal(want, got), "%v\n%v\nwant %v\ngot  %v", doc, ops, want, got)
	})
}

func FuzzMerge(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		s := &source{data: data}
		doc, patch := s.any(4), s.any(4)
		got, err := applied(t, doc, patch, Merge, JSONText.Merge, AllowIdentityChange())
		require.NoError(t, err)
		want := naiveMerge(own(t, doc), own(t, patch))
		require.True(t, document.Equal(want, got), "want %v\ngot  %v", want, got)
	})
}

func FuzzDiffJSON(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		s := &source{data: data}
		before, after := s.any(4), s.any(4)
		on := func(before, after any, opts ...Option) (any, error) {
			ops, err := DiffJSON(before, after, opts...)
			if ops == nil {
				return nil, err
			}
			return ops, err
		}
		ops, err := applied(t, before, after, on, JSONText.DiffJSON)
		require.NoError(t, err)
		if document.Equal(before, after) {
			require.Empty(t, ops)
		}
		got, err := JSON(before, ops, AllowIdentityChange())
		require.NoError(t, err, "%v", ops)
		require.True(t, document.Equal(after, got), "%v\nwant %v\ngot  %v", ops, after, got)
	})
}

func FuzzDiffMerge(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		s := &source{data: data}
		before, after := s.any(4), s.any(4)
		patch, err := applied(t, before, after, DiffMerge, JSONText.DiffMerge)
		if err != nil {
			require.Equal(t, Invalid, KindOf(err))
			return
		}
		got, err := Merge(before, patch, AllowIdentityChange())
		require.NoError(t, err)
		require.True(t, document.Equal(after, got), "%v\nwant %v\ngot  %v", patch, after, got)
	})
}

// FuzzTexts gives any text to the functions of texts: there is a text or an error of ours, never both
// and never a panic, and a text is one of the form asked for.
func FuzzTexts(f *testing.F) {
	for _, seed := range [][3]string{
		{pod(`{"containers":[{"name":"a"}]}`), pod(`{"containers":[{"name":"b","$patch":"delete"}]}`), pod(`{}`)},
		{`{"a":[1]}`, `[{"op":"add","path":"/a/-","value":2}]`, `{}`},
		{"apiVersion: v1\nkind: Pod\n", "spec: {hostname: h}\n", "a: &b [*b]\n"},
		{`{"a":1,"a":2}`, "\xff", `"\ud800"`},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]), []byte(seed[2]))
	}
	calls := textCalls()
	f.Fuzz(func(t *testing.T, first, second, third []byte) {
		texts := [3][]byte{first, second, third}
		given := [3][]byte{bytes.Clone(first), bytes.Clone(second), bytes.Clone(third)}
		for name, call := range calls {
			got, err := call.json(texts)
			requireText(t, name, got, err, document.Decode)
			got, err = call.yaml(texts)
			requireText(t, name, got, err, func(text []byte, depth int) (any, error) {
				value, err := yaml.Decode(text, depth)
				if err != nil && bytes.Contains([]byte(err.Error()), []byte("more digits than YAML numbers keep")) {
					return nil, nil
				}
				return value, err
			})
		}
		for i := range texts {
			require.Equal(t, string(given[i]), string(texts[i]), "an input was changed")
		}
	})
}

func requireText(t *testing.T, name string, text []byte, err error, decode func([]byte, int) (any, error)) {
	t.Helper()
	if err != nil {
		require.Nil(t, text, name)
		require.NotEmpty(t, KindOf(err), "%s: %v", name, err)
		return
	}
	_, err = decode(text, 2*defaultMaxDepth)
	require.NoError(t, err, "%s: %s", name, text)
}
