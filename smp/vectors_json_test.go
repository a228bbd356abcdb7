package smp

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/smp/internal/document"
)

// vectorCase is one behaviour vector of any family.
type vectorCase struct {
	Name   string          `json:"name"`
	Input  json.RawMessage `json:"input"`
	Output json.RawMessage `json:"output"`
	// Error is true, or says which error was recorded.
	Error json.RawMessage `json:"error"`
}

// fails reports whether an error is what the case asks for.
func (c vectorCase) fails() bool {
	return len(c.Error) > 0 && string(c.Error) != "null" && string(c.Error) != "false"
}

// jsonVector is a case of the family json: RFC 6902.
func jsonVector(t *testing.T, c vectorCase) {
	t.Helper()
	pairVector(t, c, JSON, JSONText.JSON)
}

// mergeVector is a case of the family merge: RFC 7386.
func mergeVector(t *testing.T, c vectorCase) {
	t.Helper()
	pairVector(t, c, Merge, JSONText.Merge)
}

// pairVector holds what is made of input.resource and input.patch against the output: as values,
// detached and shared, and as texts.
func pairVector(t *testing.T, c vectorCase,
	values func(doc, patch any, opts ...Option) (any, error),
	texts func(doc, patch []byte, opts ...Option) ([]byte, error),
) {
	t.Helper()
	var input struct {
		Resource json.RawMessage `json:"resource"`
		Patch    json.RawMessage `json:"patch"`
	}
	require.NoError(t, json.Unmarshal(c.Input, &input))
	for _, options := range [][]Option{{AllowIdentityChange()}, {AllowIdentityChange(), Shared()}} {
		doc, patch := parse(t, string(input.Resource)), parse(t, string(input.Patch))
		got, err := values(doc, patch, options...)
		require.Equal(t, parse(t, string(input.Resource)), doc, "the document was changed")
		require.Equal(t, parse(t, string(input.Patch)), patch, "the patch was changed")
		c.holds(t, got, err)
	}
	out, err := texts(input.Resource, input.Patch, AllowIdentityChange())
	var got any
	if err == nil {
		got = parse(t, string(out))
	}
	c.holds(t, got, err)
}

// holds holds a result against the output of the case.
func (c vectorCase) holds(t *testing.T, got any, err error) {
	t.Helper()
	if c.fails() {
		require.Error(t, err)
		require.NotEmpty(t, KindOf(err))
		require.Nil(t, got)
		return
	}
	require.NoError(t, err)
	want := parse(t, string(c.Output))
	require.True(t, document.Equal(want, got), "want %s\ngot  %v", c.Output, got)
}
