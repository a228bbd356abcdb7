package diff

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/operkit/operkit/reconcile/internal/vectortest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestVectors(t *testing.T) {
	vectortest.Run(t, "kopf-diff", func(t *testing.T, c *vectortest.Case) {
		want, _ := c.Want(t).([]any)
		before, after := c.Input["old"], c.Input["new"]
		if strings.HasPrefix(c.Name, "reduce/") {
			field := pathOf(c.Input["field"])
			before, after = At(before, field), At(after, field)
		}
		got := shown(Of(before, after))
		slices.SortFunc(got, func(a, b any) int { return strings.Compare(fieldText(t, a), fieldText(t, b)) })
		assert.True(t, Equal(append([]any{}, want...), append([]any{}, got...)), "want %v, got %v", want, got)
	})
}

func pathOf(value any) (path []string) {
	for _, key := range value.([]any) {
		path = append(path, key.(string))
	}
	return path
}

// shown are items as the vectors have them.
func shown(items []Item) (all []any) {
	for _, item := range items {
		path := []any{}
		for _, key := range item.Path {
			path = append(path, key)
		}
		all = append(all, map[string]any{"op": string(item.Op), "field": path, "old": item.Old, "new": item.New})
	}
	return all
}

func fieldText(t *testing.T, item any) string {
	t.Helper()
	text, err := json.Marshal(item.(map[string]any)["field"])
	require.NoError(t, err)
	return string(text)
}
