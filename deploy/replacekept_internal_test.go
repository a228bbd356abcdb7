package deploy

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A rule of a whole custom resource names no field, so that all is kept that the intent leaves out, but for the
// metadata.
func TestKeepContent(t *testing.T) {
	t.Parallel()
	content := map[string]any{"metadata": map[string]any{"name": "it"}, "spec": map[string]any{"a": int64(2)}}
	live := map[string]any{"metadata": map[string]any{"labels": map[string]any{"a": "b"}}, "spec": map[string]any{"a": int64(1), "b": int64(3)}, "mode": "x"}
	keepContent(content, live)
	assert.Equal(t, map[string]any{"metadata": map[string]any{"name": "it"}, "spec": map[string]any{"a": int64(2), "b": int64(3)}, "mode": "x"}, content)
}
