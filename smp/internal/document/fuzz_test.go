package document_test

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/smp/internal/document"
)

// FuzzDecode holds Decode to encoding/json: the same texts are JSON, apart from what ours refuses on
// purpose, and they have the same values. What is written reads back as the same.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,2.5,-0,1e400,"x\u00e9\ud83d\ude00",null,true],"b":{}}`, `{"a":1,"a":2}`, `"\ud800"`, "\"\xff\"", `01`, `[1,]`, ` `, `-`, `1.`, `[[[[[[]]]]]]`,
		`0.1234567890123456789`, `12345678901234567890`, `9007199254740993`, `123456789012345678901e-3`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		given := bytes.Clone(text)
		value, err := document.Decode(text, 1000)
		require.Equal(t, given, text, "the text was written to")
		theirs, theirErr := decodeTheirs(text)
		if err != nil {
			require.Nil(t, value)
			require.True(t, theirErr != nil || refusedOnPurpose(text, theirs), "only we refuse: %v", err)
			return
		}
		require.NoError(t, theirErr, "only we accept")
		requireSame(t, theirs, value)
		written, err := document.Append(nil, value)
		require.NoError(t, err)
		require.True(t, json.Valid(written))
		again, err := document.Decode(written, 1000)
		require.NoError(t, err)
		require.True(t, document.Equal(value, again), "%s", written)
		clone, err := document.Clone(value, 1000)
		require.NoError(t, err)
		require.True(t, document.Equal(value, clone))
		require.True(t, document.Equal(clone, value))
	})
}

func decodeTheirs(text []byte) (value any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, io.ErrUnexpectedEOF
	}
	return value, nil
}

// refusedOnPurpose tells of a text that encoding/json accepts whether it has what ours refuses: a key
// that comes twice, invalid UTF-8, half a surrogate pair, too much depth.
func refusedOnPurpose(text []byte, theirs any) bool {
	if !utf8.Valid(text) || bytes.Contains(bytes.ToLower(text), []byte(`\ud`)) {
		return true
	}
	if document.Check(plainNumbers(theirs), 1000) != nil {
		return true
	}
	keys := 0
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	// In objects tokens are key, value in turn, a container being one value.
	type level struct {
		object bool
		tokens int
	}
	var levels []level
	for {
		token, err := decoder.Token()
		if err != nil {
			break
		}
		delim, isDelim := token.(json.Delim)
		closing := isDelim && (delim == '}' || delim == ']')
		if closing {
			levels = levels[:len(levels)-1]
			continue
		}
		if n := len(levels); n > 0 && levels[n-1].object {
			if levels[n-1].tokens%2 == 0 {
				keys++
			}
			levels[n-1].tokens++
		}
		if isDelim {
			levels = append(levels, level{object: delim == '{'})
		}
	}
	return keys != countKeys(theirs)
}

func countKeys(value any) (keys int) {
	switch value := value.(type) {
	case map[string]any:
		keys = len(value)
		for _, field := range value {
			keys += countKeys(field)
		}
	case []any:
		for _, element := range value {
			keys += countKeys(element)
		}
	}
	return keys
}

// plainNumbers makes numbers that can always be checked.
func plainNumbers(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for key, field := range value {
			value[key] = plainNumbers(field)
		}
	case []any:
		for i, element := range value {
			value[i] = plainNumbers(element)
		}
	case json.Number:
		return 0
	}
	return value
}

// requireSame compares with what encoding/json makes of the text when it keeps numbers as text.
func requireSame(t *testing.T, theirs, ours any) {
	t.Helper()
	switch theirs := theirs.(type) {
	case map[string]any:
		object, isObject := ours.(map[string]any)
		require.True(t, isObject)
		require.Len(t, object, len(theirs))
		for key, field := range theirs {
			require.Contains(t, object, key)
			requireSame(t, field, object[key])
		}
	case []any:
		list, isList := ours.([]any)
		require.True(t, isList)
		require.Len(t, list, len(theirs))
		for i, element := range theirs {
			requireSame(t, element, list[i])
		}
	case json.Number:
		requireSameNumber(t, theirs, ours)
	default:
		require.Equal(t, theirs, ours)
	}
}

func requireSameNumber(t *testing.T, theirs json.Number, ours any) {
	t.Helper()
	if i, err := theirs.Int64(); err == nil && !strings.ContainsAny(string(theirs), ".eE") && theirs != "-0" {
		require.Equal(t, i, ours)
		return
	}
	require.True(t, document.Equal(theirs, ours), "%v %T %v", theirs, ours, ours)
	if f, isFloat := ours.(float64); isFloat {
		want, err := theirs.Float64()
		require.NoError(t, err)
		require.Equal(t, want, f)
		require.Equal(t, math.Signbit(want), math.Signbit(f))
	}
}
